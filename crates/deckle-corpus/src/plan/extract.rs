//! Extract.
