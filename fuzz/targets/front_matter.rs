//! Setting a key changes that key alone, or is refused.
#![no_main]

use deckle_doc::{Dialect, Tree, apply, front};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: (&str, &str)| {
    let Ok(tree) = Tree::parse(format!("---\n{}\n---\n\nbody\n", data.0), Dialect::Generic) else { return };
    let Ok(mut before) = front::read(&tree) else { return };
    let value = serde_json::Value::String(data.1.to_owned());
    if let Ok(splice) = front::set(&tree, "key", &value) {
        let after = Tree::parse(apply(tree.source(), &[splice]), Dialect::Generic).expect("the result parses");
        before.insert("key".into(), value);
        assert_eq!(front::read(&after), Ok(before));
    }
});
