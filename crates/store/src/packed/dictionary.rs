//! Dictionaries, which short lines are compressed against: the words that all of them share.
//!
//! A row names the dictionary that it was compressed with, by number. Number 0 is built in and never changes; others are
//! trained from the store's own lines and stored in it. A dictionary holds pieces of what was said, so an erasure retires those
//! that hold some of the erased text.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};

use zstd::bulk::Compressor;

use super::pack::damaged;
use crate::error::Result;
use crate::thread_pool::lock;

/// The level of what is compressed once and read often, and that of dictionaries while they are trained.
const LEVEL: i32 = 3;

/// How hard lines are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For a store whose bytes are all on this disk.
    #[cfg(feature = "sqlite")]
    Usual,
    /// For a store behind a wire, where every appender waits for it: a quarter less time, a fiftieth more bytes.
    #[cfg(feature = "postgres")]
    Little,
}

impl Effort {
    fn level(self) -> i32 {
        match self {
            #[cfg(feature = "sqlite")]
            Effort::Usual => LEVEL,
            #[cfg(feature = "postgres")]
            Effort::Little => 1,
        }
    }
}

/// How much text is gathered before a dictionary is trained, and how large that becomes.
const SAMPLE: usize = 640 << 10;
const TRAINED: usize = 48 << 10;

/// A trained dictionary must make the samples at least this much smaller, or it is not worth its bytes.
const WORTH: f64 = 0.95;

/// Words that native lines are made of. It is number 0 of every store, and part of the format: it never changes.
const BUILT_IN: &str = include_str!("words.txt");

/// Text that others are compressed against.
#[derive(Debug)]
pub(crate) struct Dictionary {
    pub(crate) id: i64,
    pub(crate) bytes: Vec<u8>,
}

/// The dictionaries of a store, and compressors that are ready for the newest.
pub(crate) struct Dictionaries {
    known: RwLock<HashMap<i64, Arc<Dictionary>>>,
    newest: RwLock<Arc<Dictionary>>,
    idle: Mutex<Vec<(i64, Compressor<'static>)>>,
    plain: Mutex<Vec<Compressor<'static>>>,
    samples: Mutex<Samples>,
    effort: Effort,
}

#[derive(Default)]
struct Samples {
    bytes: Vec<u8>,
    sizes: Vec<usize>,
    state: Gathering,
}

#[derive(Default, PartialEq, Eq)]
enum Gathering {
    #[default]
    Open,
    Done,
}

impl Dictionaries {
    /// The built-in one, and the newest that was trained.
    pub(crate) fn new(trained: Option<Dictionary>, effort: Effort) -> Result<Dictionaries> {
        let first = Arc::new(Dictionary { id: 0, bytes: BUILT_IN.as_bytes().to_vec() });
        let state = if trained.is_some() { Gathering::Done } else { Gathering::Open };
        let newest = trained.map_or_else(|| Arc::clone(&first), Arc::new);
        let known = [(0, first), (newest.id, Arc::clone(&newest))].into_iter().collect();
        Ok(Dictionaries {
            known: RwLock::new(known),
            newest: RwLock::new(newest),
            idle: Mutex::default(),
            plain: Mutex::default(),
            samples: Mutex::new(Samples { state, ..Samples::default() }),
            effort,
        })
    }

    pub(crate) fn get(&self, id: i64) -> Option<Arc<Dictionary>> {
        self.known.read().ok()?.get(&id).cloned()
    }

    /// Makes a dictionary known, and the one that is used from now on.
    pub(crate) fn adopt(&self, dictionary: Dictionary) -> Arc<Dictionary> {
        let dictionary = Arc::new(dictionary);
        if let Ok(mut known) = self.known.write() {
            known.insert(dictionary.id, Arc::clone(&dictionary));
        }
        if let Ok(mut newest) = self.newest.write()
            && newest.id < dictionary.id
        {
            *newest = Arc::clone(&dictionary);
        }
        dictionary
    }

    /// Compresses against the newest dictionary, and says which that was.
    pub(crate) fn compress(&self, bytes: &[u8]) -> Result<(i64, Vec<u8>)> {
        let newest = self.newest.read().map(|newest| Arc::clone(&newest)).map_err(|_| damaged("no dictionary"))?;
        let idle = lock(&self.idle).pop().filter(|(id, _)| *id == newest.id);
        let mut compressor = match idle {
            Some((_, compressor)) => compressor,
            None => Compressor::with_dictionary(self.effort.level(), &newest.bytes).map_err(cannot)?,
        };
        let data = compressor.compress(bytes).map_err(cannot)?;
        lock(&self.idle).push((newest.id, compressor));
        Ok((newest.id, data))
    }

    /// Compresses against the built-in dictionary.
    pub(crate) fn compress_built_in(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut compressor = Compressor::with_dictionary(LEVEL, BUILT_IN.as_bytes()).map_err(cannot)?;
        compressor.compress(bytes).map_err(cannot)
    }

    /// Uses the built-in dictionary from now on where this one was the newest.
    pub(crate) fn retire(&self, id: i64) {
        if let (Ok(mut newest), Ok(mut known)) = (self.newest.write(), self.known.write()) {
            known.remove(&id);
            if let Some(first) = known.get(&0).filter(|_| newest.id == id) {
                *newest = Arc::clone(first);
            }
        }
    }

    /// Forgets what was gathered to train from.
    pub(crate) fn forget_samples(&self) {
        let mut samples = lock(&self.samples);
        samples.bytes.clear();
        samples.sizes.clear();
    }

    /// Compresses on its own: a long text is its own dictionary.
    pub(crate) fn compress_plain(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let idle = lock(&self.plain).pop();
        let mut compressor = idle.map_or_else(|| Compressor::new(LEVEL), Ok).map_err(cannot)?;
        let data = compressor.compress(bytes).map_err(cannot)?;
        lock(&self.plain).push(compressor);
        Ok(data)
    }

    /// Gathers a text to train from; gives all of them once there are enough.
    pub(crate) fn gather(&self, line: &str) -> Option<(Vec<u8>, Vec<usize>)> {
        let mut samples = lock(&self.samples);
        if samples.state == Gathering::Done {
            return None;
        }
        let line = line.as_bytes();
        let line = line.get(..line.len().min(8 << 10)).unwrap_or(line);
        samples.bytes.extend_from_slice(line);
        samples.sizes.push(line.len());
        if samples.bytes.len() < SAMPLE {
            return None;
        }
        samples.state = Gathering::Done;
        Some((std::mem::take(&mut samples.bytes), std::mem::take(&mut samples.sizes)))
    }
}

/// A dictionary of what the samples share, if that pays.
pub(crate) fn train(bytes: &[u8], sizes: &[usize]) -> Option<Vec<u8>> {
    let trained = zstd::dict::from_continuous(bytes, sizes, TRAINED).ok()?;
    let before = compressed(bytes, sizes, BUILT_IN.as_bytes())?;
    let after = compressed(bytes, sizes, &trained)?;
    (after as f64 <= before as f64 * WORTH).then_some(trained)
}

fn compressed(bytes: &[u8], sizes: &[usize], dictionary: &[u8]) -> Option<usize> {
    let mut compressor = Compressor::with_dictionary(LEVEL, dictionary).ok()?;
    let (mut at, mut total) = (0, 0);
    for size in sizes {
        total += compressor.compress(bytes.get(at..at + size)?).ok()?.len();
        at += size;
    }
    Some(total)
}

fn cannot(error: std::io::Error) -> crate::error::Error {
    crate::error::Error::new(crate::error::ErrorKind::Unavailable, "compress a batch").because(error)
}
