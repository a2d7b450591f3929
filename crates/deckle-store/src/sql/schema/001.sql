-- One schema for both engines: text, whole numbers and bytes only. Every table begins with its tenant.

CREATE TABLE workspaces (
  tenant TEXT NOT NULL, id TEXT NOT NULL,
  main TEXT NOT NULL,                       -- 'ref' or 'folder'
  op_seq BIGINT NOT NULL DEFAULT 0,         -- the last number of the op log
  created_at BIGINT NOT NULL,
  PRIMARY KEY (tenant, id)
);

-- Git's objects. A small edit of a document is stored as what it changes of `base`.
CREATE TABLE objects (
  tenant TEXT NOT NULL, id TEXT NOT NULL,
  kind TEXT NOT NULL,                       -- 'blob', 'tree', 'commit'
  size BIGINT NOT NULL,
  opaque BIGINT NOT NULL,                   -- 1: a file that is no document: not UTF-8, too large, not Markdown
  base TEXT,                                -- the object that `data` is a change of
  data BLOB,                                -- absent: the bytes stay in the folder
  PRIMARY KEY (tenant, id)
);
CREATE INDEX objects_opaque ON objects (tenant, id) WHERE opaque = 1;

CREATE TABLE refs (
  tenant TEXT NOT NULL, workspace TEXT NOT NULL, name TEXT NOT NULL,
  target TEXT NOT NULL,
  PRIMARY KEY (tenant, workspace, name),
  FOREIGN KEY (tenant, workspace) REFERENCES workspaces (tenant, id)
);

CREATE TABLE branches (
  tenant TEXT NOT NULL, workspace TEXT NOT NULL, id TEXT NOT NULL,
  state TEXT NOT NULL,                      -- 'open', 'in-review', 'merged', 'discarded'
  base TEXT NOT NULL,                       -- the commit of main that it stands on
  person TEXT NOT NULL, agent TEXT,
  intent TEXT NOT NULL,
  created_at BIGINT NOT NULL, changed_at BIGINT NOT NULL,
  PRIMARY KEY (tenant, workspace, id),
  FOREIGN KEY (tenant, workspace) REFERENCES workspaces (tenant, id)
);

CREATE TABLE ops (
  tenant TEXT NOT NULL, workspace TEXT NOT NULL, seq BIGINT NOT NULL,
  at BIGINT NOT NULL,
  branch TEXT,                              -- absent: main
  kind TEXT NOT NULL,
  person TEXT NOT NULL, agent TEXT,
  run TEXT, call TEXT,
  intent TEXT NOT NULL,
  before_commit TEXT, after_commit TEXT,
  receipt TEXT NOT NULL,                    -- JSON that belongs to the caller
  detail TEXT NOT NULL,                     -- JSON of the store's own: renames, the runs that a merge carried
  PRIMARY KEY (tenant, workspace, seq),
  FOREIGN KEY (tenant, workspace) REFERENCES workspaces (tenant, id)
);
CREATE UNIQUE INDEX ops_call ON ops (tenant, workspace, run, call);
CREATE INDEX ops_branch ON ops (tenant, workspace, branch, seq);

-- Block ids that were carried and so cannot be derived from the text alone. An empty branch is main.
CREATE TABLE block_ids (
  tenant TEXT NOT NULL, workspace TEXT NOT NULL, branch TEXT NOT NULL,
  doc TEXT NOT NULL, blob TEXT NOT NULL,
  ids TEXT NOT NULL,                        -- JSON array in preorder
  PRIMARY KEY (tenant, workspace, branch, doc, blob),
  FOREIGN KEY (tenant, workspace) REFERENCES workspaces (tenant, id)
);

-- What a person decided about a change. Append-only, so a decision can be taken back.
CREATE TABLE decisions (
  tenant TEXT NOT NULL, workspace TEXT NOT NULL, branch TEXT NOT NULL, seq BIGINT NOT NULL,
  change TEXT NOT NULL,
  verdict TEXT NOT NULL,                    -- 'accept', 'reject', 'edit', 'none'
  text TEXT,                                -- what the person wrote instead
  note TEXT NOT NULL,
  person TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (tenant, workspace, branch, seq),
  FOREIGN KEY (tenant, workspace) REFERENCES workspaces (tenant, id)
);

CREATE TABLE trash (
  tenant TEXT NOT NULL, workspace TEXT NOT NULL, branch TEXT NOT NULL,
  doc TEXT NOT NULL, op BIGINT NOT NULL,
  path TEXT NOT NULL, mode TEXT NOT NULL, blob TEXT NOT NULL,
  ids TEXT,                                 -- as in block_ids
  person TEXT NOT NULL, agent TEXT, at BIGINT NOT NULL,
  PRIMARY KEY (tenant, workspace, branch, doc, op),
  FOREIGN KEY (tenant, workspace) REFERENCES workspaces (tenant, id)
);

CREATE TABLE protections (
  tenant TEXT NOT NULL, workspace TEXT NOT NULL,
  path TEXT NOT NULL,                       -- a key, or a folder that ends in '/'
  level TEXT NOT NULL,                      -- 'delete' or 'edit'
  person TEXT NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (tenant, workspace, path),
  FOREIGN KEY (tenant, workspace) REFERENCES workspaces (tenant, id)
);

-- A write to the folder that has begun. It is finished, or given up file by file, by whoever opens the store next.
CREATE TABLE writeouts (
  tenant TEXT NOT NULL, workspace TEXT NOT NULL,
  plan TEXT NOT NULL,                       -- JSON
  at BIGINT NOT NULL,
  PRIMARY KEY (tenant, workspace),
  FOREIGN KEY (tenant, workspace) REFERENCES workspaces (tenant, id)
);

CREATE TABLE sessions (
  tenant TEXT NOT NULL, id TEXT NOT NULL,
  workspace TEXT NOT NULL, branch TEXT,
  person TEXT NOT NULL,
  title TEXT NOT NULL,
  state TEXT NOT NULL,                      -- JSON that belongs to the caller
  created_at BIGINT NOT NULL, changed_at BIGINT NOT NULL,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, workspace) REFERENCES workspaces (tenant, id)
);
CREATE INDEX sessions_changed ON sessions (tenant, workspace, changed_at);

CREATE TABLE messages (
  tenant TEXT NOT NULL, session TEXT NOT NULL,
  place TEXT NOT NULL,                      -- zero-padded, so text order is message order
  turn TEXT,
  body TEXT NOT NULL,                       -- JSON, whole
  at BIGINT NOT NULL,
  PRIMARY KEY (tenant, session, place),
  FOREIGN KEY (tenant, session) REFERENCES sessions (tenant, id)
);

CREATE TABLE events (
  tenant TEXT NOT NULL, session TEXT NOT NULL, seq BIGINT NOT NULL,
  turn TEXT NOT NULL,
  body TEXT NOT NULL,                       -- JSON
  at BIGINT NOT NULL,
  PRIMARY KEY (tenant, session, seq),
  FOREIGN KEY (tenant, session) REFERENCES sessions (tenant, id)
);

CREATE TABLE turns (
  tenant TEXT NOT NULL, id TEXT NOT NULL,
  session TEXT NOT NULL, branch TEXT NOT NULL,
  run TEXT NOT NULL,
  state TEXT NOT NULL,                      -- 'running', 'done', 'failed', 'cancelled'
  cancel BIGINT NOT NULL DEFAULT 0,
  request TEXT NOT NULL, outcome TEXT,      -- JSON
  started_at BIGINT NOT NULL, ended_at BIGINT,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, session) REFERENCES sessions (tenant, id)
);
CREATE INDEX turns_session ON turns (tenant, session, started_at);
CREATE INDEX turns_state ON turns (tenant, state, started_at);

-- Who works on what, until when. The fence only grows: a holder that slept too long is told by it.
CREATE TABLE leases (
  tenant TEXT NOT NULL, name TEXT NOT NULL,
  holder TEXT NOT NULL, fence BIGINT NOT NULL, until BIGINT NOT NULL,
  PRIMARY KEY (tenant, name)
);

CREATE TABLE offloaded (
  tenant TEXT NOT NULL, session TEXT NOT NULL, id TEXT NOT NULL,
  tool TEXT NOT NULL, media TEXT NOT NULL,
  data BLOB NOT NULL, at BIGINT NOT NULL,
  PRIMARY KEY (tenant, session, id),
  FOREIGN KEY (tenant, session) REFERENCES sessions (tenant, id)
);

CREATE TABLE quotas (
  tenant TEXT NOT NULL, team TEXT NOT NULL, resource TEXT NOT NULL,
  allowed BIGINT NOT NULL, used BIGINT NOT NULL, reserved BIGINT NOT NULL,
  period BIGINT NOT NULL, resets_at BIGINT NOT NULL,
  PRIMARY KEY (tenant, team, resource)
);

CREATE TABLE reservations (
  tenant TEXT NOT NULL, id TEXT NOT NULL,
  team TEXT NOT NULL, resource TEXT NOT NULL,
  amount BIGINT NOT NULL, until BIGINT NOT NULL,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, team, resource) REFERENCES quotas (tenant, team, resource)
);

CREATE TABLE usage (
  tenant TEXT NOT NULL, id TEXT NOT NULL,
  person TEXT NOT NULL, team TEXT, session TEXT, run TEXT,
  model TEXT NOT NULL,
  input BIGINT NOT NULL, cached BIGINT NOT NULL, output BIGINT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX usage_at ON usage (tenant, at);

CREATE TABLE users (
  tenant TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, email TEXT NOT NULL,
  role TEXT NOT NULL,                       -- 'owner', 'editor', 'reader'
  disabled BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (tenant, id)
);

CREATE TABLE teams (
  tenant TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, created_at BIGINT NOT NULL,
  PRIMARY KEY (tenant, id)
);

CREATE TABLE members (
  tenant TEXT NOT NULL, team TEXT NOT NULL, person TEXT NOT NULL,
  PRIMARY KEY (tenant, team, person),
  FOREIGN KEY (tenant, team) REFERENCES teams (tenant, id),
  FOREIGN KEY (tenant, person) REFERENCES users (tenant, id)
);

-- What a user or a team may do below a path of a workspace; the longest path that matches decides.
CREATE TABLE grants (
  tenant TEXT NOT NULL, workspace TEXT NOT NULL,
  subject TEXT NOT NULL,                    -- 'user:ID' or 'team:ID'
  path TEXT NOT NULL,                       -- '' everything, 'a/' a folder, 'a/b' one document
  role TEXT NOT NULL,                       -- 'owner', 'editor', 'reader', 'none'
  PRIMARY KEY (tenant, workspace, subject, path),
  FOREIGN KEY (tenant, workspace) REFERENCES workspaces (tenant, id)
);

CREATE TABLE tokens (
  tenant TEXT NOT NULL, id TEXT NOT NULL,
  digest TEXT NOT NULL,                     -- of the secret, which is not kept
  person TEXT NOT NULL, agent TEXT,
  label TEXT NOT NULL,
  path TEXT NOT NULL,                       -- as in grants
  role TEXT NOT NULL,
  created_at BIGINT NOT NULL, until BIGINT, revoked_at BIGINT,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, person) REFERENCES users (tenant, id)
);

CREATE TABLE settings (
  tenant TEXT NOT NULL, workspace TEXT NOT NULL, name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (tenant, workspace, name),
  FOREIGN KEY (tenant, workspace) REFERENCES workspaces (tenant, id)
);
