//! Every wire type: HTTP, NDJSON, AG-UI, MCP.
