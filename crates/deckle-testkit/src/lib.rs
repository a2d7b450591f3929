//! Corpora, simulated disk, scripted models, fake peers, for tests only.

pub mod simdisk;
