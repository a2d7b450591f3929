//! The sample workspace: a small product's documentation, and the script of the demonstration.

/// Every document, by its file.
pub const DOCUMENTS: &[(&str, &str)] = &[
    ("changelog.md", include_str!("../../sample/changelog.md")),
    ("concepts/audit-log.md", include_str!("../../sample/concepts/audit-log.md")),
    ("concepts/evaluation.md", include_str!("../../sample/concepts/evaluation.md")),
    ("concepts/flags.md", include_str!("../../sample/concepts/flags.md")),
    ("concepts/segments.md", include_str!("../../sample/concepts/segments.md")),
    ("decisions/001-storage.md", include_str!("../../sample/decisions/001-storage.md")),
    ("decisions/002-evaluation-order.md", include_str!("../../sample/decisions/002-evaluation-order.md")),
    ("guides/configuration.md", include_str!("../../sample/guides/configuration.md")),
    ("guides/environments.md", include_str!("../../sample/guides/environments.md")),
    ("guides/install.md", include_str!("../../sample/guides/install.md")),
    ("guides/quick-start.md", include_str!("../../sample/guides/quick-start.md")),
    ("guides/rollouts.md", include_str!("../../sample/guides/rollouts.md")),
    ("guides/targeting.md", include_str!("../../sample/guides/targeting.md")),
    ("guides/webhooks.md", include_str!("../../sample/guides/webhooks.md")),
    ("index.md", include_str!("../../sample/index.md")),
    ("reference/api.md", include_str!("../../sample/reference/api.md")),
    ("reference/cli.md", include_str!("../../sample/reference/cli.md")),
    ("reference/errors.md", include_str!("../../sample/reference/errors.md")),
    ("reference/limits.md", include_str!("../../sample/reference/limits.md")),
    ("reference/sdk-support.md", include_str!("../../sample/reference/sdk-support.md")),
    ("troubleshooting.md", include_str!("../../sample/troubleshooting.md")),
];

/// What the scripted model says.
pub const SCRIPT: &str = include_str!("../../sample/demo.yaml");
