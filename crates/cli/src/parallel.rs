//! Work on many things at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many threads work that keeps a core busy gets.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Works on every item, on this thread and at most so many others, and hands each result over as soon as it is there,
/// with the place of its item. Where the system has no thread left, there are fewer of them: that takes longer, and is no
/// error.
pub(crate) fn in_parallel<T: Sync, R>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    done: impl FnMut(usize, R) + Send,
) {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(done));
    let worker = || {
        let due = || next.fetch_add(1, Ordering::Relaxed);
        while let Some((index, item)) = Some(due()).and_then(|index| Some((index, items.get(index)?))) {
            let result = work(item);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            (*done)(index, result);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            if thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        worker();
    });
}

/// The same, with all results in the order of the items.
pub(crate) fn all_in_parallel<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    mut step: impl FnMut() + Send,
) -> Vec<R> {
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    in_parallel(items, threads, work, |index, result| {
        step();
        if let Some(slot) = results.get_mut(index) {
            *slot = Some(result);
        }
    });
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items_whoever_was_faster() {
        let items: Vec<usize> = (0..100).collect();

        let doubled = all_in_parallel(&items, 4, |item| item * 2, || {});

        assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_to_do_needs_nobody() {
        assert_eq!(all_in_parallel(&[(); 0], 4, |()| 1, || {}), Vec::<i32>::new());
    }
}
