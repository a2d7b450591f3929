//! The edit language: predicates, guards, operations, plans of byte splices, the proof, receipts.
