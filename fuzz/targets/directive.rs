//! Directives nested at will: tiling holds, and the validator does not panic.
#![no_main]

use deckle_doc::{Dialect, Tree, types};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: Vec<(u8, u8, &str)>| {
    let mut text = String::new();
    for (form, colons, words) in data.iter().take(64) {
        let mark = ":".repeat(usize::from(colons % 6) + 1);
        match form % 5 {
            0 => text.push_str(&format!("{mark}note[{words}]\n")),
            1 => text.push_str(&format!("{mark}\n")),
            2 => text.push_str(&format!("> {mark}tab{{{words}}}\n")),
            3 => text.push_str(&format!("- {mark}steps\n  {words}\n")),
            _ => text.push_str(&format!("{words}\n")),
        }
    }
    let Ok(tree) = Tree::parse(text.as_str(), Dialect::Generic) else { return };
    assert_eq!(tree.emit(), text);
    let _ = types::validate(&tree, &types::Rules::default());
});
