//! What a tree costs in memory: allocations a block on real documents, and the peak on hostile ones.
#![allow(clippy::unwrap_used, clippy::print_stdout)]
// The one way to see every allocation is to be the allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use deckle_doc::{Dialect, Tree};

#[allow(dead_code)]
#[path = "it/common.rs"]
mod common;
#[allow(dead_code)]
#[path = "it/hostile.rs"]
mod hostile;

/// The system's allocator, counted.
struct Counted;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise about the layout is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        let now = NOW.fetch_add(size, Ordering::Relaxed) + size;
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise about the pointer is handed on.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise about the pointer is handed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// Returns the peak of what was allocated meanwhile, in bytes, over what was there before.
fn peak_of(run: impl FnOnce()) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    run();
    PEAK.load(Ordering::Relaxed).saturating_sub(before)
}

// One test, so that nothing else allocates meanwhile.
#[test]
fn memory_is_bounded() {
    let documents = common::corpora();
    let (mut blocks, mut allocations) = (0, 0);
    for (_, text) in &documents {
        let before = COUNT.load(Ordering::Relaxed);
        let tree = Tree::parse(text.as_str(), Dialect::Generic).unwrap();
        allocations += COUNT.load(Ordering::Relaxed) - before;
        blocks += tree.len();
    }
    println!("{allocations} allocations for {blocks} blocks: {:.3} a block", allocations as f64 / blocks as f64);
    assert!(allocations < blocks / 2, "{allocations} allocations for {blocks} blocks");

    // A block takes 32 bytes, so a text with a block on every second byte takes sixteen times its size; few texts are denser.
    for (name, text) in hostile::generators(1 << 20) {
        let mut blocks = 0;
        let peak = peak_of(|| blocks = Tree::parse(text.as_str(), Dialect::Generic).unwrap().len());
        let times = peak as f64 / text.len() as f64;
        println!("{name}: {times:.1} x the input, {:.2} blocks a byte", blocks as f64 / text.len() as f64);
        if blocks * 2 <= text.len() + 64 {
            assert!(peak <= 20 * text.len() + 8 * 1024, "{name}: {times:.1} x the input");
        } else {
            assert!(peak <= 2 * text.len() + 44 * blocks + 8 * 1024, "{name}: {peak} bytes for {blocks} blocks");
        }
        // Inline nodes are made for one block when they are asked for, and go again. Meanwhile each takes about 80 bytes, and each marker
        // that waits for its partner up to 72; lists double as they grow.
        let tree = Tree::parse(text.as_str(), Dialect::Generic).unwrap();
        for block in tree.blocks() {
            let mut nodes = 0;
            let peak = peak_of(|| nodes = block.inlines().len());
            let bytes = block.content().len();
            assert!(nodes <= 2 * bytes + 1, "{name}: {nodes} nodes for {bytes} bytes");
            assert!(peak <= 160 * (nodes + 4) + 72 * bytes, "{name}: {peak} bytes for {nodes} nodes in {bytes} bytes");
        }
    }
}
