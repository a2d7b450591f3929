//! Lets a safety harness build this crate with one safety removed: `DECKLE_SABOTAGE=name cargo test …` compiles it with
//! `cfg(sabotage = "name")`, and the harness must then fail. A release build refuses.

fn main() {
    println!("cargo:rerun-if-env-changed=DECKLE_SABOTAGE");
    if let Ok(name) = std::env::var("DECKLE_SABOTAGE") {
        let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
        assert!(
            !release || std::env::var_os("DECKLE_SABOTAGE_RELEASE").is_some(),
            "DECKLE_SABOTAGE is set: a release must not be built with a safety removed"
        );
        println!("cargo:rustc-cfg=sabotage=\"{name}\"");
    }
}
