//! The body of an answer, decompressed as it arrives.

use std::error::Error;
use std::io;
use std::pin::Pin;

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZstdDecoder};
use futures_core::Stream;
use futures_util::{StreamExt, TryStreamExt};
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap};
use tokio::io::AsyncRead;
use tokio_util::io::{ReaderStream, StreamReader};

/// What a request says that it can read.
pub(super) const ENCODINGS: &str = "gzip, br, zstd";

/// Why a body ended before its end.
pub(super) type BodyError = Box<dyn Error + Send + Sync>;

/// Bytes as they arrive.
pub(super) type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, BodyError>> + Send>>;

/// The headers and the body of an answer. Headers that speak of compressed bytes go with the compression.
pub(super) fn opened(response: Response<Incoming>) -> (HeaderMap, Chunks) {
    let (mut head, body) = response.into_parts();
    let packing = head.headers.get(CONTENT_ENCODING).map(|name| name.as_bytes().to_ascii_lowercase());
    let chunks = body.into_data_stream();
    let packed = StreamReader::new(chunks.map_err(io::Error::other));
    let unpacked: Pin<Box<dyn AsyncRead + Send>> = match packing.as_deref() {
        Some(b"gzip" | b"x-gzip") => {
            let mut decoder = GzipDecoder::new(packed);
            decoder.multiple_members(true);
            Box::pin(decoder)
        }
        Some(b"br") => Box::pin(BrotliDecoder::new(packed)),
        Some(b"zstd") => {
            let mut decoder = ZstdDecoder::new(packed);
            decoder.multiple_members(true);
            Box::pin(decoder)
        }
        _ => return (head.headers, Box::pin(packed.into_inner().map(|chunk| chunk.map_err(Into::into)))),
    };
    head.headers.remove(CONTENT_ENCODING);
    head.headers.remove(CONTENT_LENGTH);
    (head.headers, Box::pin(ReaderStream::new(unpacked).map(|chunk| chunk.map_err(Into::into))))
}
