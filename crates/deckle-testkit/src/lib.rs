//! Corpora, simulated disk, scripted models, fake peers, the executable specification; for tests only.

pub mod simdisk;
pub mod spec;
