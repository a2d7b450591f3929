//! Extract and inline.

use deckle_corpus::plan::{Extract, LinkStyle};
use deckle_doc::Diag;

use crate::support::{corpus, key, real, shown};

fn extract(from: &str, section: &str, to: &str, style: LinkStyle) -> Extract {
    Extract { from: key(from), section: section.into(), to: key(to), style }
}

#[test]
fn a_section_becomes_a_document() {
    let before = corpus(concat!(
        "//- docs/guide\n---\ntitle: Guide\n---\n# Guide\n\nSee [setup](#setup), [part](#part) and [top](#guide).\n\n",
        "## Setup\n\nRead [other](./other.md#x), [the guide](#guide), [ref] and note[^1]. ![i](img/a.png)\n\n### Part\n\nMore [ref].\n\n",
        "## Next\n\nAfter [ref].\n\n[ref]: https://example.org\n[^1]: A note with [other](other.md).\n",
        "//- docs/other\n# X\n[s](guide.md#setup) [p](guide.md#part) [g](guide.md) [[guide#Setup]]\n",
    ));
    let plan = before.extract(&extract("docs/guide", "Setup", "docs/parts/setup", LinkStyle::Habit)).unwrap();
    insta::assert_snapshot!(shown(plan.after()), @r"
    //- docs/guide
    ---
    title: Guide
    ---
    # Guide

    See [setup](parts/setup.md#setup), [part](parts/setup.md#part) and [top](#guide).

    [Setup](parts/setup.md)

    ## Next

    After [ref].

    [ref]: https://example.org
    [^1]: A note with [other](other.md).
    //- docs/other
    # X
    [s](parts/setup.md#setup) [p](parts/setup.md#part) [g](guide.md) [[setup#Setup]]
    //- docs/parts/setup
    # Setup

    Read [other](../other.md#x), [the guide](../guide.md#guide), [ref] and note[^1]. ![i](../img/a.png)

    ## Part

    More [ref].

    [ref]: https://example.org

    [^1]: A note with [other](../other.md).
    ");
}

#[test]
fn a_definition_that_leaves_stays_for_the_rest() {
    let before = corpus("//- a\n[[b]]\n\n# A\ntext [r]\n## B *b*\n[r]\n\n[r]: b.md\n# C\nend\n//- b\n");
    let plan = before.extract(&extract("a", "b-b", "c/bb", LinkStyle::Embed)).unwrap();
    insta::assert_snapshot!(shown(plan.after()), @r"
    //- a
    [[b]]

    # A
    text [r]

    ![[bb]]

    # C
    end

    [r]: b.md
    //- b
    //- c/bb
    # B *b*
    [r]

    [r]: ../b.md
    ");
}

#[test]
fn a_document_is_taken_in_where_it_is_linked() {
    let before = corpus(concat!(
        "//- docs/guide\n# Guide\n\n## Parts\n\n![[setup]]\n\n## End\n\nSee [[setup#Part]] and [setup](parts/setup.md).\n",
        "//- docs/parts/setup\n---\ntitle: Setup it\n---\n# Setup\n\nText [g](../guide.md) [img](a.png) [p](#part).\n\nPart\n----\n\n- item\n",
        "//- other\n[s](docs/parts/setup.md) [p](docs/parts/setup.md#part) [[setup]]\n",
    ));
    let plan = before.inline(&key("docs/guide"), &key("docs/parts/setup"), false).unwrap();
    insta::assert_snapshot!(shown(plan.after()), @r"
    //- docs/guide
    # Guide

    ## Parts

    ### Setup

    Text [g](guide.md) [img](parts/a.png) [p](#part).

    #### Part

    - item

    ## End

    See [[#Part]] and [setup](#setup).
    //- other
    [s](docs/guide.md#setup) [p](docs/guide.md#part) [[guide#Setup]]
    ");
    let kept = before.inline(&key("docs/guide"), &key("docs/parts/setup"), true).unwrap();
    insta::assert_snapshot!(shown(kept.after()), @r"
    //- docs/guide
    # Guide

    ## Parts

    ### Setup

    Text [g](guide.md) [img](parts/a.png) [p](parts/setup.md#part).

    #### Part

    - item

    ## End

    See [[setup#Part]] and [setup](parts/setup.md).
    //- docs/parts/setup
    ---
    title: Setup it
    ---
    # Setup

    Text [g](../guide.md) [img](a.png) [p](#part).

    Part
    ----

    - item
    //- other
    [s](docs/parts/setup.md) [p](docs/parts/setup.md#part) [[setup]]
    ");
}

#[test]
fn refusals_are_instructions() {
    let corpus = corpus(concat!(
        "//- a\n# A\n## Same\n### Same\n\n- [[b]]\n\n## Deep\n#### D\n\n[[d]]\n\n- one\n\n[[list]]\n",
        "//- b\n//- d\n# D\n## E\n### F\n//- list\n- two\n",
    ));
    let extracted = |section: &str, to: &str| {
        let error = corpus.extract(&extract("a", section, to, LinkStyle::Habit)).unwrap_err();
        Diag::from(&error).to_string()
    };
    let inlined = |into: &str| Diag::from(&corpus.inline(&key("a"), &key(into), false).unwrap_err()).to_string();
    let all =
        [extracted("Same", "x"), extracted("Nope", "x"), extracted("Deep", "B"), inlined("b"), inlined("d"), inlined("list")];
    insta::assert_snapshot!(all.join("\n---\n"), @r"
    error[section]: `a` has 2 section(s) named `Same`
      A › Same (#same)
      A › Same › Same (#same-1)
    hint: name the section by its whole path, as above
    ---
    error[section]: `a` has 0 section(s) named `Nope`
      A
      A › Same
      A › Same › Same
      A › Deep
      A › Deep › D
    hint: name one of the sections above
    ---
    error[document-exists]: `B` exists
    hint: choose another key; to change that document use `update`, to remove it `delete`
    ---
    error[no-place]: `a` has no block that is only a link to `b`
    hint: put a paragraph that is only `[[key]]` where the text is to go, then try again
    ---
    error[heading-level]: the heading `F` of `d` can't have level 7
    hint: write it as `# …` on one line, or put the link under a heading of a higher level
    ---
    error[neighbour]: the text of `a` can't stand in `a` and keep its blocks
    hint: put a heading or a paragraph between the text and what is beside it, then try again
    ");
}

#[test]
fn every_section_of_real_documents_can_be_extracted_and_taken_back() {
    let corpus = real("foam");
    let (mut done, mut refused) = (0, Vec::new());
    for (from, document) in corpus.documents() {
        let sections: Vec<String> =
            document.facts().headings.iter().filter(|heading| heading.level == 2).map(|h| h.slug.clone()).collect();
        for section in sections.into_iter().take(2) {
            match corpus.extract(&extract(from.as_str(), &section, "extracted/part", LinkStyle::Wikilink)) {
                Ok(plan) => {
                    done += 1;
                    let back = plan.after().inline(from, &key("extracted/part"), false);
                    if let Err(error) = back {
                        refused.push(format!("{from} › {section} back: {}", Diag::from(&error)));
                    }
                }
                Err(error) => refused.push(format!("{from} › {section}: {}", Diag::from(&error))),
            }
        }
    }
    insta::assert_snapshot!(format!("{done} extracted\n{}", refused.join("\n")), @"132 extracted");
}
