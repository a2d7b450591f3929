//! Lossless Markdown block trees: spans, ids, block types, front matter, canonical text.
