//! When a request is tried again, and how long it waits. The rules are those that the providers' own clients agree on.

use super::ModelError;

/// How many times a request is tried again.
pub const MAX_RETRIES: u32 = 2;
/// The first wait; it doubles each time.
const FIRST_MS: u64 = 500;
/// The longest wait of our own choosing.
const MAX_MS: u64 = 8_000;
/// The longest wait that a service may ask for.
const MAX_ASKED_MS: u64 = 120_000;

/// Returns how long to wait before attempt `failed + 1`; nothing when it makes no sense to try again.
#[must_use]
pub fn wait(error: &ModelError, failed: u32) -> Option<u64> {
    if failed > MAX_RETRIES {
        return None;
    }
    let own = (FIRST_MS << (failed - 1).min(10)).min(MAX_MS);
    match error {
        ModelError::Connection(_) | ModelError::Truncated(_) => Some(own),
        ModelError::Status { status, retry_after_ms, should_retry, .. } => {
            let again = should_retry.unwrap_or(matches!(status, 408 | 409 | 429) || *status >= 500);
            if !again {
                return None;
            }
            match retry_after_ms {
                Some(asked) if *asked > MAX_ASKED_MS => None,
                Some(asked) => Some(*asked),
                None => Some(own),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16, retry_after_ms: Option<u64>, should_retry: Option<bool>) -> ModelError {
        ModelError::Status { status, message: String::new(), retry_after_ms, should_retry }
    }

    #[test]
    fn what_is_tried_again() {
        assert_eq!(wait(&status(429, Some(1_200), None), 1), Some(1_200));
        assert_eq!(wait(&status(529, None, None), 1), Some(500));
        assert_eq!(wait(&status(529, None, None), 2), Some(1_000));
        assert_eq!(wait(&status(529, None, None), 3), None);
        assert_eq!(wait(&status(400, None, None), 1), None);
        assert_eq!(wait(&status(400, None, Some(true)), 1), Some(500));
        assert_eq!(wait(&status(500, None, Some(false)), 1), None);
        assert_eq!(wait(&status(429, Some(3_600_000), None), 1), None);
        assert_eq!(wait(&ModelError::Truncated(String::new()), 1), Some(500));
        assert_eq!(wait(&ModelError::Cancelled, 1), None);
    }
}
