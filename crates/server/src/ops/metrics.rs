//! Counters, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The upper bounds of the histogram of durations, in seconds.
const BOUNDS: [f64; 8] = [0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0];

/// What the server counts. Labels are routes and statuses, never ids.
#[derive(Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<(String, String, u16), u64>>,
    durations: Mutex<BTreeMap<String, Durations>>,
    pub(crate) streams: AtomicI64,
    pub(crate) events: AtomicU64,
    pub(crate) lagged: AtomicU64,
    pub(crate) runs_started: AtomicU64,
    pub(crate) runs_resumed: AtomicU64,
    authenticated: AtomicU64,
}

#[derive(Default)]
struct Durations {
    buckets: [u64; BOUNDS.len()],
    count: u64,
    sum: f64,
}

impl Metrics {
    pub(crate) fn request(&self, method: &str, route: &str, status: u16, took: Duration) {
        let key = (method.to_owned(), route.to_owned(), status);
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
        let mut all = self.durations.lock().unwrap_or_else(PoisonError::into_inner);
        let durations = all.entry(route.to_owned()).or_default();
        let seconds = took.as_secs_f64();
        let reached = durations.buckets.iter_mut().zip(BOUNDS).filter(|(_, bound)| seconds <= *bound);
        reached.for_each(|(bucket, _)| *bucket += 1);
        durations.count += 1;
        durations.sum += seconds;
    }

    pub(crate) fn authenticated(&self) {
        self.authenticated.fetch_add(1, Ordering::Relaxed);
    }

    /// Everything, with what others count: name, kind, meaning, value.
    pub(crate) fn to_text(&self, others: &[(&str, &str, &str, u64)]) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "# HELP turnkeep_requests_total Requests by route and status.");
        let _ = writeln!(text, "# TYPE turnkeep_requests_total counter");
        for ((method, route, status), count) in self.requests.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"");
            let _ = writeln!(text, "turnkeep_requests_total{{{labels}}} {count}");
        }
        self.durations_text(&mut text);
        let counters = [
            ("turnkeep_authenticated_total", "Requests with a valid token.", &self.authenticated),
            ("turnkeep_events_total", "Events sent to those who follow.", &self.events),
            ("turnkeep_lagged_total", "Times that someone who follows was too slow.", &self.lagged),
            ("turnkeep_runs_started_total", "Runs that were started.", &self.runs_started),
            ("turnkeep_runs_resumed_total", "Runs of another server that were taken up.", &self.runs_resumed),
        ];
        for (name, help, counter) in counters {
            metric(&mut text, name, "counter", help, counter.load(Ordering::Relaxed));
        }
        let streams = u64::try_from(self.streams.load(Ordering::Relaxed)).unwrap_or_default();
        metric(&mut text, "turnkeep_streams", "gauge", "Open streams.", streams);
        others.iter().for_each(|(name, kind, help, value)| metric(&mut text, name, kind, help, *value));
        text
    }

    fn durations_text(&self, text: &mut String) {
        let name = "turnkeep_request_seconds";
        let _ = writeln!(text, "# HELP {name} How long requests took, by route.\n# TYPE {name} histogram");
        for (route, durations) in self.durations.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            for (bound, count) in BOUNDS.iter().zip(durations.buckets) {
                let _ = writeln!(text, "{name}_bucket{{route=\"{route}\",le=\"{bound}\"}} {count}");
            }
            let Durations { count, sum, .. } = durations;
            let _ = writeln!(text, "{name}_bucket{{route=\"{route}\",le=\"+Inf\"}} {count}");
            let _ = writeln!(text, "{name}_sum{{route=\"{route}\"}} {sum}\n{name}_count{{route=\"{route}\"}} {count}");
        }
    }
}

fn metric(text: &mut String, name: &str, kind: &str, help: &str, value: u64) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
}

/// Counts one open stream for as long as it lives.
pub(crate) struct OpenStream(pub(crate) std::sync::Arc<Metrics>);

impl OpenStream {
    pub(crate) fn new(metrics: std::sync::Arc<Metrics>) -> OpenStream {
        metrics.streams.fetch_add(1, Ordering::Relaxed);
        OpenStream(metrics)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}
