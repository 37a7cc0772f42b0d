//! What went wrong, before a vendor puts it in its own form.

/// An answer that is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The status.
    pub status: u16,
    /// The vendor's class of it, where it is not the usual one of the status.
    pub class: Option<String>,
    /// What it says.
    pub message: String,
}

impl Refusal {
    /// The class, or the usual one of the status: the first that `table` has for it, or its last.
    pub(crate) fn class_of(&self, table: &'static [(u16, &'static str)]) -> String {
        let usual = table.iter().find(|(status, _)| *status == self.status).or(table.last());
        self.class.clone().unwrap_or_else(|| usual.map(|(_, word)| (*word).to_owned()).unwrap_or_default())
    }
}
