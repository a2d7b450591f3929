//! Corpora, simulated disk, scripted models, fake peers, for tests only.
