//! Corpora, simulated disk, scripted models, fake peers, the executable specification; for tests only.

#[cfg(feature = "simdisk")]
pub mod simdisk;
pub mod spec;
