//! What waits to be sent to one connection. It is bounded by bytes: who does not read is closed.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::code::Code;
use super::frame::Frame;

/// What a frame takes beside its bytes.
const OVERHEAD: usize = 64;

/// What a connection is to do.
#[derive(Debug)]
pub(super) enum Note {
    Frame(Frame),
    Close(Code),
}

/// The end that others put things into.
#[derive(Debug)]
pub(super) struct Mailbox {
    notes: UnboundedSender<Note>,
    /// Bytes that wait. The channel itself has no bound: one of frames would say nothing of memory.
    waiting: AtomicUsize,
    most: usize,
}

impl Mailbox {
    pub(super) fn new(most: usize) -> (Mailbox, UnboundedReceiver<Note>) {
        let (notes, receiver) = mpsc::unbounded_channel();
        (Mailbox { notes, waiting: AtomicUsize::new(0), most }, receiver)
    }

    /// Puts a frame in, or closes the connection where too much waits already.
    pub(super) fn send(&self, frame: Frame) {
        let size = frame.len() + OVERHEAD;
        let before = self.waiting.fetch_add(size, Ordering::Relaxed);
        if before + size <= self.most {
            // A connection that has ended hears nothing.
            let _ = self.notes.send(Note::Frame(frame));
        } else if before <= self.most {
            // The first that does not fit closes; the counter stays above the limit, so nothing follows it.
            self.waiting.fetch_max(self.most.saturating_add(1), Ordering::Relaxed);
            self.close(Code::OverCapacity);
        } else {
            self.waiting.fetch_sub(size, Ordering::Relaxed);
        }
    }

    pub(super) fn close(&self, code: Code) {
        let _ = self.notes.send(Note::Close(code));
    }

    /// A frame was taken out.
    pub(super) fn taken(&self, frame: &Frame) {
        self.waiting.fetch_sub(frame.len() + OVERHEAD, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_read_is_closed_and_no_more_is_kept() {
        let (mailbox, mut notes) = Mailbox::new(3 * (OVERHEAD + 10));
        let frame = Frame::from_static("0123456789");

        (0..100).for_each(|_| mailbox.send(frame.clone()));

        let told: Vec<Note> = std::iter::from_fn(|| notes.try_recv().ok()).collect();
        assert!(matches!(
            told.as_slice(),
            [Note::Frame(_), Note::Frame(_), Note::Frame(_), Note::Close(Code::OverCapacity)]
        ));
    }

    #[test]
    fn who_reads_gets_everything() {
        let (mailbox, mut notes) = Mailbox::new(OVERHEAD + 10);
        let frame = Frame::from_static("0123456789");

        for _ in 0..100 {
            mailbox.send(frame.clone());
            assert!(matches!(notes.try_recv(), Ok(Note::Frame(frame)) if { mailbox.taken(&frame); true }));
        }
    }
}
