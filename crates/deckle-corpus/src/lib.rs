//! Many documents: keys, links, search, rename, audits.
