//! Shapes of plain values.

use super::{Shape, ShapeReader};
use crate::error::Result;
use crate::json::{Json, Node, Number, Object, Sink, Value, read_object, read_value};

impl Shape for String {
    fn write<S: Sink>(&self, out: &mut S) {
        out.text(self);
    }

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<String> {
        match node.value {
            Value::Text(text) => Ok(reading.string(text)),
            _ => Err(reading.wrong(&node, "a string")),
        }
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Shape for bool {
    fn write<S: Sink>(&self, out: &mut S) {
        out.bool(*self);
    }

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<bool> {
        match node.value {
            Value::Bool(value) => Ok(value),
            _ => Err(reading.wrong(&node, "true or false")),
        }
    }

    fn is_absent(&self) -> bool {
        !*self
    }
}

macro_rules! integer_shapes {
    ($($integer:ty)*) => {$(
        impl Shape for $integer {
            fn write<S: Sink>(&self, out: &mut S) {
                out.number(&self.to_string());
            }

            fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<$integer> {
                match &node.value {
                    Value::Number(text) => text.parse().map_err(|_| {
                        reading.error(node.at, concat!("expected a whole number that fits ", stringify!($integer)))
                    }),
                    _ => Err(reading.wrong(&node, "a whole number")),
                }
            }

            fn is_absent(&self) -> bool {
                *self == 0
            }
        }
    )*};
}

integer_shapes! { u16 u32 u64 }

impl Shape for Number {
    fn write<S: Sink>(&self, out: &mut S) {
        out.number(self.as_str());
    }

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<Number> {
        match read_value(node) {
            Json::Number(number) => Ok(number),
            other => Err(reading.error(0, format!("expected a number, found {}", other.kind()))),
        }
    }
}

impl Shape for Json {
    fn write<S: Sink>(&self, out: &mut S) {
        out.json(self);
    }

    fn read(node: Node<'_>, _: &mut ShapeReader) -> Result<Json> {
        Ok(read_value(node))
    }

    fn is_absent(&self) -> bool {
        *self == Json::Null
    }
}

impl Shape for Object {
    fn write<S: Sink>(&self, out: &mut S) {
        if !self.is_plain() {
            return out.json(&Json::Object(self.clone()));
        }
        out.begin_object();
        for (key, value) in self.iter() {
            out.spelled_key(key);
            out.json(value);
        }
        out.end_object();
    }

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<Object> {
        reading.object(node).map(read_object)
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Shape> Shape for Option<T> {
    fn write<S: Sink>(&self, out: &mut S) {
        match self {
            Some(value) => value.write(out),
            None => out.null(),
        }
    }

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<Option<T>> {
        match node.value {
            Value::Null => Ok(None),
            _ => T::read(node, reading).map(Some),
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Shape> Shape for Box<T> {
    fn write<S: Sink>(&self, out: &mut S) {
        (**self).write(out);
    }

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<Box<T>> {
        T::read(node, reading).map(Box::new)
    }

    fn is_absent(&self) -> bool {
        (**self).is_absent()
    }
}

impl<T: Shape> Shape for Vec<T> {
    fn write<S: Sink>(&self, out: &mut S) {
        out.begin_array();
        self.iter().for_each(|item| item.write(out));
        out.end_array();
    }

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<Vec<T>> {
        let Value::Array(items) = node.value else {
            return Err(reading.wrong(&node, "an array"));
        };
        // A collect of results would guess its room, and take twice what it needs.
        let mut values = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            values.push(reading.at(index, |reading| T::read(item, reading))?);
        }
        Ok(values)
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

/// A map of strings to values, in order.
impl<T: Shape> Shape for Vec<(String, T)> {
    fn write<S: Sink>(&self, out: &mut S) {
        out.begin_object();
        for (key, value) in self {
            out.key(key);
            value.write(out);
        }
        out.end_object();
    }

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<Vec<(String, T)>> {
        let fields = reading.object(node)?;
        let read_pair = |(index, (key, node))| {
            let key = reading.string(key);
            Ok((key, reading.at(index, |reading| T::read(node, reading))?))
        };
        fields.into_iter().enumerate().map(read_pair).collect()
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}
