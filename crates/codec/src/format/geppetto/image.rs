//! Images of a block.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block as ModelBlock, Media};

use super::FORMAT;
use super::decode::take_text;

/// An image, what it has beyond the model, and whether its content was a data URL.
pub(super) type Image = (Media, Object, bool);

/// The images of a payload, if every one of them is a map with something to show.
pub(super) fn images(payload: &mut Object) -> Option<Vec<Image>> {
    let items = payload.get("images")?.as_array().filter(|items| !items.is_empty())?;
    let images = items.iter().map(|item| item.as_object().map(|map| image(map.clone()))).collect::<Option<Vec<_>>>()?;
    payload.remove("images");
    Some(images)
}

fn image(mut map: Object) -> Image {
    let mut media = Media {
        media_type: take_text(&mut map, "media_type"),
        url: take_text(&mut map, "url"),
        file_id: take_text(&mut map, "file_id"),
        detail: take_text(&mut map, "detail"),
        inline: take_text(&mut map, "content"),
        ..Media::default()
    };
    if media.media_type.is_none()
        && let Some((media_type, base64)) = media.inline.as_deref().and_then(data_url)
    {
        let (media_type, base64) = (media_type.to_owned(), base64.to_owned());
        media.media_type = Some(media_type);
        media.inline = Some(base64);
        return (media, map, true);
    }
    (media, map, false)
}

fn data_url(content: &str) -> Option<(&str, &str)> {
    content.strip_prefix("data:")?.split_once(";base64,").filter(|(media_type, _)| !media_type.contains([';', ',']))
}

pub(super) fn image_block(author: Author, (media, rest, is_data_url): Image) -> ModelBlock {
    let mut block = ModelBlock::new(author, media);
    if is_data_url {
        block.extra.part_mut(FORMAT).spelling.set("content", "data_url");
    }
    block.extra.part_mut(FORMAT).fields =
        if rest.is_empty() { Object::new() } else { [("image", Json::Object(rest))].into_iter().collect() };
    block.extra.tidy();
    block
}
