//! Snapshots, branches, op log, block merge, review, sessions.
