//! What a turn cost, at the prices that the person gives: prices change, so none is built in.

use deckle_doc::Diag;
use deckle_wire::Usage;

use crate::failure::Failure;

/// Dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    input: f64,
    output: f64,
    cached: f64,
}

impl Price {
    /// Reads `DECKLE_PRICE`; nothing when it is not set.
    pub fn from_environment() -> Result<Option<Self>, Failure> {
        std::env::var("DECKLE_PRICE").ok().map(|text| Self::parse(&text)).transpose()
    }

    /// Reads `INPUT/OUTPUT` or `INPUT/OUTPUT/CACHED`; without a price of their own, cached tokens cost what others do.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let numbers: Option<Vec<f64>> = text
            .split('/')
            .map(|part| part.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0))
            .collect();
        match numbers.as_deref() {
            Some([input, output]) => Ok(Self { input: *input, output: *output, cached: *input }),
            Some([input, output, cached]) => Ok(Self { input: *input, output: *output, cached: *cached }),
            _ => Err(Diag::new("usage", format!("`DECKLE_PRICE` is `{text}`"))
                .hint("write dollars for a million tokens: `INPUT/OUTPUT` or `INPUT/OUTPUT/CACHED`, as `3/15/0.3`")
                .into()),
        }
    }

    /// Returns dollars.
    pub fn of(&self, usage: &Usage) -> f64 {
        let fresh = usage.input_tokens.saturating_sub(usage.cached_tokens) as f64;
        (fresh * self.input + usage.cached_tokens as f64 * self.cached + usage.output_tokens as f64 * self.output) / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_have_their_own_price() {
        let usage = Usage { input_tokens: 1_000_000, output_tokens: 100_000, cached_tokens: 400_000, requests: 3 };
        let cost = |text: &str| Price::parse(text).unwrap().of(&usage);
        assert!((cost("3/15") - 4.5).abs() < 1e-9);
        assert!((cost("3/15/0.3") - (1.8 + 0.12 + 1.5)).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_price_is_an_instruction() {
        for bad in ["", "3", "a/b", "1/2/3/4", "-1/2", "inf/1"] {
            assert!(Price::parse(bad).is_err(), "{bad}");
        }
    }
}
