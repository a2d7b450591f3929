//! HTTP, streams, turns, MCP. Where things are awaited.
