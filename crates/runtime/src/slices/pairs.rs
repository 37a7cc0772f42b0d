//! Maps whose keys are not strings, as lists of pairs: `#[serde(with = "turnkeep_runtime::slices::pairs")]`.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

/// Writes a map as a list of pairs.
///
/// # Errors
/// Where a key or a value cannot be written.
pub fn serialize<'a, M, K, V, S>(map: &'a M, serializer: S) -> Result<S::Ok, S::Error>
where
    &'a M: IntoIterator<Item = (&'a K, &'a V)>,
    K: Serialize + 'a,
    V: Serialize + 'a,
    S: Serializer,
{
    serializer.collect_seq(map)
}

/// Reads a map from a list of pairs; of equal keys the last counts.
///
/// # Errors
/// Where it is something else.
pub fn deserialize<'de, M, K, V, D>(deserializer: D) -> Result<M, D::Error>
where
    M: FromIterator<(K, V)>,
    K: Deserialize<'de>,
    V: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Vec::<(K, V)>::deserialize(deserializer).map(|pairs| pairs.into_iter().collect())
}
