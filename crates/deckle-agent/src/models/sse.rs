//! Server-sent events: bytes in, events out.

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event:` field; empty when there is none.
    pub event: String,
    /// The `data:` lines.
    pub data: String,
}

/// The longest event that is read, in bytes; past it the stream is broken.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// Cuts a byte stream into events, whatever the pieces it comes in.
#[derive(Debug, Default)]
pub struct SseReader {
    buffer: Vec<u8>,
    event: String,
    data: Vec<String>,
}

impl SseReader {
    /// Takes bytes in and returns the events that they complete. Nothing when an event is past the limit.
    pub fn push(&mut self, bytes: &[u8]) -> Option<Vec<SseEvent>> {
        self.buffer.extend_from_slice(bytes);
        let mut done = Vec::new();
        let mut start = 0;
        while let Some(length) = self.buffer[start..].iter().position(|byte| *byte == b'\n') {
            let mut line = &self.buffer[start..start + length];
            if let Some(bare) = line.strip_suffix(b"\r") {
                line = bare;
            }
            let line = String::from_utf8_lossy(line).into_owned();
            start += length + 1;
            if line.is_empty() {
                if !self.data.is_empty() {
                    done.push(SseEvent {
                        event: std::mem::take(&mut self.event),
                        data: std::mem::take(&mut self.data).join("\n"),
                    });
                }
                self.event.clear();
            } else if let Some(value) = line.strip_prefix("data:") {
                self.data.push(value.strip_prefix(' ').unwrap_or(value).to_owned());
            } else if let Some(value) = line.strip_prefix("event:") {
                self.event = value.trim().to_owned();
            }
        }
        self.buffer.drain(..start);
        let held: usize = self.data.iter().map(String::len).sum();
        (self.buffer.len() + held <= MAX_EVENT_BYTES).then_some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_matter() {
        let stream = ": comment\r\nevent: a\r\ndata: {\"x\":\r\ndata: 1}\r\n\r\ndata:two\n\n";
        let whole = SseReader::default().push(stream.as_bytes()).unwrap();
        assert_eq!(
            whole,
            [SseEvent { event: "a".into(), data: "{\"x\":\n1}".into() }, SseEvent { event: String::new(), data: "two".into() }]
        );
        for size in 1..stream.len() {
            let mut reader = SseReader::default();
            let cut: Vec<SseEvent> = stream.as_bytes().chunks(size).flat_map(|piece| reader.push(piece).unwrap()).collect();
            assert_eq!(cut, whole, "in pieces of {size}");
        }
    }
}
