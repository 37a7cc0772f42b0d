//! The declarations of shapes.

/// Declares a struct as some fields of an object. Kinds: `req` (must be there), `opt` (left out when absent), `flat`
/// (its own fields stand among these).
macro_rules! flat_shape {
    ($type:ident { $($field:ident : $kind:ident),* $(,)? } $($unstored:ident)*) => {
        impl $crate::shape::FlatShape for $type {
            const FIELDS: &'static [&'static str] = &[$(stringify!($field),)*];

            fn write_fields<S: $crate::json::Sink>(&self, out: &mut S) {
                let _ = &out;
                $( $crate::shape::macros::write_field!($kind, self.$field, stringify!($field), out); )*
            }

            fn read_fields<'a>(
                fields: $crate::json::Fields<'a>,
                reading: &mut $crate::shape::ShapeReader,
            ) -> $crate::error::Result<(Self, $crate::json::Fields<'a>)> {
                let _ = &reading;
                $( #[allow(unused_mut, reason = "a flat field has no slot to fill")] let mut $field = None; )*
                let unread = |(key, node): $crate::json::Field<'a>| {
                    #[allow(unused_variables, reason = "a struct whose fields are all flat compares nothing")]
                    let name = key.to_str_lossy();
                    $( $crate::shape::macros::read_field!($kind, $field, name, node, reading); )*
                    drop(name);
                    Ok(Some((key, node)))
                };
                // What is left stays in the allocation it came in.
                #[allow(unused_mut, reason = "a struct without flat fields gives the rest back untouched")]
                let mut rest: $crate::json::Fields<'a> =
                    fields.into_iter().map(unread).filter_map(Result::transpose).collect::<$crate::error::Result<_>>()?;
                $( let $field = $crate::shape::macros::take_field!($kind, $field, rest, reading); )*
                Ok(($type { $($field,)* $( $unstored: Default::default(), )* }, rest))
            }
        }
    };
}

macro_rules! write_field {
    (req, $value:expr, $name:expr, $out:ident) => {
        $out.key($name);
        $crate::shape::Shape::write(&$value, $out);
    };
    (opt, $value:expr, $name:expr, $out:ident) => {
        if !$crate::shape::Shape::is_absent(&$value) {
            $out.key($name);
            $crate::shape::Shape::write(&$value, $out);
        }
    };
    (flat, $value:expr, $name:expr, $out:ident) => {
        $crate::shape::FlatShape::write_fields(&$value, $out);
    };
}

macro_rules! read_field {
    (flat, $field:ident, $name:ident, $node:ident, $reading:ident) => {};
    ($kind:ident, $field:ident, $name:ident, $node:ident, $reading:ident) => {
        if $name == stringify!($field) {
            $reading.within(stringify!($field), |reading| {
                let value = $crate::shape::Shape::read($node, reading)?;
                reading.fill(&mut $field, value);
                Ok(())
            })?;
            return Ok(None);
        }
    };
}

macro_rules! take_field {
    (req, $field:ident, $rest:ident, $reading:ident) => {
        $field.ok_or_else(|| $reading.missing(stringify!($field)))?
    };
    (opt, $field:ident, $rest:ident, $reading:ident) => {
        $field.unwrap_or_default()
    };
    (flat, $field:ident, $rest:ident, $reading:ident) => {{
        let _: Option<()> = $field;
        let (value, left) = $crate::shape::FlatShape::read_fields($rest, $reading)?;
        $rest = left;
        value
    }};
}

/// Declares a struct with an `extra` field as a whole object: what is not declared survives there.
macro_rules! shape {
    ($type:ident { $($fields:tt)* } $($unstored:ident)*) => {
        $crate::shape::flat_shape! { $type { $($fields)* } $($unstored)* extra }

        impl $crate::shape::Shape for $type {
            fn write<S: $crate::json::Sink>(&self, out: &mut S) {
                out.begin_object();
                $crate::shape::FlatShape::write_fields(self, out);
                self.extra.write_fields(out);
                out.end_object();
            }

            fn read(node: $crate::json::Node<'_>, reading: &mut $crate::shape::ShapeReader) -> $crate::error::Result<Self> {
                let fields = reading.object(node)?;
                let (mut value, rest) = <$type as $crate::shape::FlatShape>::read_fields(fields, reading)?;
                value.extra = $crate::extra::Extra::read_fields(rest, reading)?;
                Ok(value)
            }

            fn is_absent(&self) -> bool {
                *self == Default::default()
            }
        }
    };
}

/// Declares an enum of words that is open: a word it does not know is kept in `Other`. A closed one has no `other`.
macro_rules! string_enum {
    ($(#[$meta:meta])* pub enum $type:ident {
        $($(#[$doc:meta])* $variant:ident = $word:literal,)*
        $(; $(#[$other_doc:meta])* other)?
    }) => {
        $crate::shape::macros::string_enum_type! {
            [$($(#[$other_doc])* other)?] $(#[$meta])* $type { $($(#[$doc])* $variant = $word,)* }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

macro_rules! string_enum_type {
    ([] $(#[$meta:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$doc])* $variant,)* }

        impl $type {
            /// Every word.
            pub const ALL: &'static [$type] = &[$($type::$variant,)*];

            /// The word as it is written.
            pub fn as_str(&self) -> &'static str {
                match self { $($type::$variant => $word,)* }
            }

            /// The variant of a word.
            pub fn from_word(word: &str) -> Option<$type> {
                match word { $($word => Some($type::$variant),)* _ => None }
            }
        }

        impl $crate::shape::Shape for $type {
            fn write<S: $crate::json::Sink>(&self, out: &mut S) {
                out.text(self.as_str());
            }

            fn read(node: $crate::json::Node<'_>, reading: &mut $crate::shape::ShapeReader) -> $crate::error::Result<Self> {
                let at = node.at;
                reading.word(node, $type::from_word)?.ok_or_else(|| {
                    let known: &[&str] = &[$($word,)*];
                    reading.error(at, format!("unknown word; expected one of {}", known.join(", ")))
                })
            }
        }
    };
    ([$(#[$other_doc:meta])* other] $(#[$meta:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $type { $($(#[$doc])* $variant,)* $(#[$other_doc])* Other(String) }

        impl $type {
            /// Every known word.
            pub const KNOWN: &'static [&'static str] = &[$($word,)*];

            /// The word as it is written.
            pub fn as_str(&self) -> &str {
                match self { $($type::$variant => $word,)* $type::Other(word) => word }
            }

            /// The variant of a word; an unknown one is kept.
            pub fn from_word(word: &str) -> $type {
                match word { $($word => $type::$variant,)* other => $type::Other(other.to_owned()) }
            }
        }

        impl $crate::shape::Shape for $type {
            fn write<S: $crate::json::Sink>(&self, out: &mut S) {
                out.text(self.as_str());
            }

            fn read(node: $crate::json::Node<'_>, reading: &mut $crate::shape::ShapeReader) -> $crate::error::Result<Self> {
                reading.word(node, $type::from_word)
            }
        }
    };
}

/// Declares an enum whose variants are told apart by a word under `$tag`; an unknown one keeps all its fields in
/// `Other`.
macro_rules! tagged {
    ($(#[$meta:meta])* pub enum $type:ident : $tag:literal {
        $($(#[$doc:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant, reason = "the large variants are the common ones")]
        pub enum $type {
            $($(#[$doc])* $variant($variant),)*
            /// A kind that this version does not know.
            Other {
                /// The word that names the kind.
                kind: String,
                /// All its fields.
                raw: $crate::json::Object,
            },
        }

        impl $type {
            /// The word that names the kind.
            pub fn kind(&self) -> &str {
                match self { $($type::$variant(_) => $word,)* $type::Other { kind, .. } => kind }
            }
        }

        $(impl From<$variant> for $type {
            fn from(value: $variant) -> $type {
                $type::$variant(value)
            }
        })*

        impl $crate::shape::FlatShape for $type {
            fn write_fields<S: $crate::json::Sink>(&self, out: &mut S) {
                out.key($tag);
                out.text(self.kind());
                match self {
                    $($type::$variant(value) => $crate::shape::FlatShape::write_fields(value, out),)*
                    $type::Other { raw, .. } => raw.iter().for_each(|(key, value)| {
                        out.spelled_key(key);
                        out.json(value);
                    }),
                }
            }

            fn read_fields<'a>(
                mut fields: $crate::json::Fields<'a>,
                reading: &mut $crate::shape::ShapeReader,
            ) -> $crate::error::Result<(Self, $crate::json::Fields<'a>)> {
                let node = reading.take(&mut fields, $tag).ok_or_else(|| reading.missing($tag))?;
                let kind = reading.within($tag, |reading| <String as $crate::shape::Shape>::read(node, reading))?;
                match kind.as_str() {
                    $($word => {
                        let (value, rest) = <$variant as $crate::shape::FlatShape>::read_fields(fields, reading)?;
                        Ok(($type::$variant(value), rest))
                    })*
                    _ => {
                        let (extra, fields) = $crate::extra::split(fields);
                        Ok(($type::Other { kind, raw: $crate::json::read_object(fields) }, extra))
                    }
                }
            }
        }
    };
}

pub(crate) use {flat_shape, read_field, shape, string_enum, string_enum_type, tagged, take_field, write_field};
