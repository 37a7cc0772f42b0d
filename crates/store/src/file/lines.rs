//! Cutting what is read of a file, chunk by chunk, into lines.

/// Bytes that were read and not yet taken.
#[derive(Debug, Default)]
pub(super) struct Lines {
    bytes: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Up to where there is no line break: a line of many chunks is searched once, not once a chunk.
    searched: usize,
}

impl Lines {
    /// Adds what was read next.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line, without its line break.
    pub(super) fn next(&mut self) -> Option<&[u8]> {
        let unseen = self.bytes.get(self.searched..).unwrap_or_default();
        let Some(found) = unseen.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.bytes.len();
            return None;
        };
        let (start, end) = (self.start, self.searched + found);
        (self.start, self.searched) = (end + 1, end + 1);
        self.bytes.get(start..end)
    }

    /// What comes after the last line break.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_the_bytes_arrive() {
        let text = b"one\n\nthree is longer\nfour";
        for size in 1..=text.len() {
            let (mut lines, mut found) = (Lines::default(), Vec::new());
            for chunk in text.chunks(size) {
                lines.push(chunk);
                while let Some(line) = lines.next() {
                    found.push(String::from_utf8(line.to_vec()).unwrap());
                }
            }

            assert_eq!(found, ["one", "", "three is longer"], "in chunks of {size}");
            assert_eq!(lines.rest(), b"four");
        }
    }

    #[test]
    fn a_long_line_is_searched_once() {
        let mut lines = Lines::default();
        for chunk in 1..=4 {
            lines.push(&[b'x'; 1000]);

            assert!(lines.next().is_none());
            assert_eq!(lines.searched, chunk * 1000);
        }
    }
}
