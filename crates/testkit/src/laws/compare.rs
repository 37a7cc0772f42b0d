//! How two archives differ, place by place.

use turnkeep_model::{Archive, Extra, diff};

/// Every place where `b` differs from `a`, spelled as losses spell places.
///
/// Places in the main session have no prefix. Where a session has no place in its journal, gaining one is no change.
pub fn archive_diff(a: &Archive, b: &Archive) -> Vec<String> {
    let mut places = Vec::new();
    match (a.main_session(), b.main_session()) {
        (Some(a), Some(b)) => places.extend(diff(a, b).into_iter().map(|change| change.at)),
        (None, None) => {}
        _ => places.push(String::new()),
    }
    places.extend(other_sessions(a, b));
    places.extend(extra_diff(&a.extra, &b.extra));
    if a.seq.is_some() && a.seq != b.seq {
        places.push("seq".to_owned());
    }
    places
}

fn other_sessions(a: &Archive, b: &Archive) -> Vec<String> {
    let others = |archive: &Archive| {
        let main = archive.main as usize;
        (0..archive.sessions.len()).filter(|index| *index != main).collect::<Vec<_>>()
    };
    let (ours, theirs) = (others(a), others(b));
    let mut places = Vec::new();
    for at in 0..ours.len().max(theirs.len()) {
        let own = ours.get(at).and_then(|index| Some((*index, a.sessions.get(*index)?)));
        let other = theirs.get(at).and_then(|index| b.sessions.get(*index));
        match (own, other) {
            (Some((index, own)), Some(other)) => {
                places.extend(diff(own, other).into_iter().map(|change| a.prefix(index) + &change.at));
            }
            (Some((index, _)), None) => places.push(format!("sessions[{index}]")),
            (None, _) => places.push("sessions".to_owned()),
        }
    }
    places
}

fn extra_diff(a: &Extra, b: &Extra) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    for (own, other) in [(a, b), (b, a)] {
        for (format, part) in own.parts().filter(|(format, part)| other.part(format) != Some(part)) {
            let native = part.fields.iter().filter(|_| format == "turnkeep");
            places.extend(native.map(|(key, _)| key.to_str_lossy().into_owned()));
            places.extend((format != "turnkeep").then(|| format!("extra.{format}")));
        }
    }
    places.dedup();
    places
}
