//! Values with a native shape: serde sees the tree that the shape writes.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

use crate::json::{Json, Sink, TreeSink};
use crate::loss::Loss;
use crate::native::{Archive, Snapshot};
use crate::options::{Options, ToolSpec};
use crate::session::{Session, Turn};
use crate::shape::{FlatShape, Shape, ShapeReader};
use crate::status::Status;
use crate::usage::Usage;
use crate::{Block, Decimal, Error, Result};

/// The tree that `write` writes.
fn tree(write: impl FnOnce(&mut TreeSink)) -> Json {
    let mut sink = TreeSink::default();
    write(&mut sink);
    sink.into_json()
}

/// What a reading found, unless it lost something: serde has no place to say so.
fn lossless<T>(value: T, losses: &[Loss]) -> Result<T> {
    match losses.first() {
        None => Ok(value),
        Some(loss) => Err(Error::new(crate::ErrorKind::Corrupt, loss.what.clone())
            .path(loss.at.clone())
            .hint("read the text with `Snapshot::from_json`, which reports what it could not keep")),
    }
}

macro_rules! shaped {
    ($($type:ty)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                tree(|sink| Shape::write(self, sink)).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let json = Json::deserialize(deserializer)?;
                let mut reading = ShapeReader::default();
                let value = <$type>::read(json.to_node(), &mut reading);
                value.and_then(|value| lossless(value, &reading.losses)).map_err(D::Error::custom)
            }
        }
    )*};
}

shaped! { Session Turn Block Options ToolSpec Status Usage Decimal }

macro_rules! parted {
    ($($type:ty)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                let json = tree(|sink| {
                    sink.begin_object();
                    self.write_fields(sink);
                    sink.end_object();
                });
                json.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let json = Json::deserialize(deserializer)?;
                let mut reading = ShapeReader::default();
                let fields = reading.object(json.to_node()).map_err(D::Error::custom)?;
                let value = <$type>::read_fields(fields, &mut reading);
                value.and_then(|(value, _)| lossless(value, &reading.losses)).map_err(D::Error::custom)
            }
        }
    )*};
}

parted! { Loss }

/// The native document, with its version.
impl Serialize for Archive {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        tree(|sink| self.write(sink)).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Archive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Archive, D::Error> {
        let json = Json::deserialize(deserializer)?;
        let (archive, losses) = Archive::read(json.to_node()).map_err(D::Error::custom)?;
        lossless(archive, &losses).map_err(D::Error::custom)
    }
}

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Archive::from(self.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Snapshot, D::Error> {
        Snapshot::try_from(Archive::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
