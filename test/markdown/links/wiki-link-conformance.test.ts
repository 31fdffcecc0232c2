import { describe, expect, test } from 'vitest'
import type { WikiLink } from '../../../src/rules/neurons/neuron.ts'
import { extractChunks, extractLinks } from '../extract-parts.ts'

/** A link as expected, without what is `embed: false` and its line. */
type Expected = Partial<WikiLink> & { target: string }
type Case = [name: string, content: string, links: readonly (string | Expected)[], shown?: string]

function conforms(cases: readonly Case[]) {
  test.each(cases.map(([name, content, links, shown]) => ({ name, content, links, shown })))(
    '$name: $content',
    ({ content, links, shown }) => {
      const expected = links.map((link) => ({ embed: false, ...(typeof link === 'string' ? { target: link } : link) }))
      expect(extractLinks(content).map(({ line: _, ...link }) => link)).toEqual(expected)
      if (shown !== undefined) expect(shownText(content)).toBe(shown)
    },
  )
}

function shownText(content: string): string {
  return extractChunks(content)
    .map(({ text }) => text)
    .join('\n')
}

// https://spec.commonmark.org/0.31.2/
describe('beside CommonMark', () => {
  conforms([
    // #code-spans: "Code span backticks have higher precedence than any other inline constructs except HTML tags and autolinks."
    ['none in a code span', '`[[a]]`', [], '[[a]]'],
    ['none in a code span of two backticks', '`` ` [[a]] ``', []],
    ['none in a code span over lines', '`b\n[[a]]\nc`', []],
    ['what begins first wins: a link holds a backtick', '[[a`b]] c`', ['a`b'], 'a`b c`'],
    ['backticks that do not pair are text', '`[[a]]``', ['a']],
    // #fenced-code-blocks
    ['none in a fence', '```\n[[a]]\n```', []],
    ['none in a fence of tildes with an info string', '~~~ md [[b]]\n[[a]]\n~~~', []],
    ['none in a fence that is never closed', '```\n\n[[a]]', []],
    ['a shorter fence closes none', '````\n```\n[[a]]\n````\n[[b]]', ['b']],
    ['an indented fence', '   ```\n   [[a]]\n   ```\n\n[[b]]', ['b']],
    ['a line of backticks with one in its info string is no fence', '``` a`\n[[a]]', ['a']],
    // #indented-code-blocks: "An indented code block cannot interrupt a paragraph."
    ['none in indented code', '    [[a]]', []],
    ['none in code indented by a tab', '\t[[a]]', []],
    ['an indented line goes on with its paragraph', 'b\n    [[a]]', ['a']],
    ['an indented line after an item is of the item', '- b\n\n    [[a]]', ['a']],
    // #html-blocks, #raw-html
    ['none in an HTML block', '<div>\n[[a]]\n</div>', []],
    ['after the blank line that ends it', '<div>\n\n[[a]]\n\n</div>', ['a']],
    ['none in a comment', '<!-- [[a]]\n\n[[b]] -->', [], ''],
    ['none in an attribute', 'b <i title="[[a]]">[[c]]</i>', ['c'], 'b c'],
    ['a less-than sign alone opens nothing', '1 < 2 [[a]]', ['a']],
    // #backslash-escapes
    ['an escaped bracket opens none', '\\[[a]]', [], '[[a]]'],
    ['a bracket escaped in its midst opens none', '[\\[a]]', [], '[[a]]'],
    ['an escaped backslash escapes nothing', '\\\\[[a]]', ['a'], '\\a'],
    ['an escaped mark embeds nothing', '\\![[a]]', ['a'], '!a'],
    ['no backslash escapes within', '[[a\\*b]]', ['a\\*b']],
    // #entity-and-numeric-character-references: they "cannot be used in place of symbols indicating structure".
    ['a character reference is no bracket', '&#91;[a]]', [], '[[a]]'],
    // #link-reference-definitions, #links: "Links may not contain other links", but a wiki link is none of CommonMark's.
    ['wins over a definition of its label', '[[a]]\n\n[a]: /u', ['a'], 'a'],
    ['none in a definition', '[b]: /u "[[a]]"', []],
    ['none in a destination', '[b](<https://x.y/[[a]]>)', []],
    ['in the text of a link, both count', '[b [[a]]](/u)', [{ target: '/u', form: 'markdown' }, 'a'], 'b a'],
    ['none in the alt text of an image', '![b [[a]]](https://x.y)', []],
    ['parentheses after it are text', '[[a]](b)', ['a'], 'a(b)'],
    // #autolinks
    ['none in an autolink', '<https://x.y/[[a]]>', []],
    // #emphasis-and-strong-emphasis
    ['in emphasis', '*[[a]]* __[[b]]__', ['a', 'b'], 'a b'],
    ['binds tighter than emphasis', '*b [[a*c]]', ['a*c']],
    // #headings
    ['in headings', '# [[a]] #\n\n[[b]]\n===', ['a', 'b']],
    ['in quotes and lists', '> - [[a]]\n>   1. [[b]]', ['a', 'b']],
    // #blank-lines, #soft-line-breaks
    ['not across lines', '[[a\nb]]', [], '[[a b]]'],
    ['not across lines of a quote', '> [[a\n> b]]', []],
    ['a tab is a blank', '[[a\tb]]', ['a\tb']],
  ])
})

// https://github.github.com/gfm/
describe('beside GFM', () => {
  conforms([
    // #tables-extension-: "It is possible to include a pipe in a cell's content by escaping it, including inside other inline spans."
    ['in a table the pipe is escaped', '| x |\n| - |\n| [[a\\|b]] |', [{ target: 'a', alias: 'b' }], 'x\nb'],
    ['in a table a pipe ends the cell', '| x | y |\n| - | - |\n| [[a|b]] |', []],
    ['in the head of a table', '| [[a]] |\n| - |', ['a']],
    ['in a table without outer pipes', 'x | [[a]]\n- | -\n[[b]] | y', ['a', 'b']],
    ['an escaped pipe outside a table parts as well', '[[a\\|b]]', [{ target: 'a', alias: 'b' }]],
    // #task-list-items-extension-
    ['in a task', '- [ ] [[a]]\n- [x] [[b]]', ['a', 'b'], 'a\nb'],
    ['a box of its own is none', '- [ ] b', [], 'b'],
    // #strikethrough-extension-
    ['struck through', '~~[[a]]~~', ['a'], 'a'],
    // #autolinks-extension-
    ['none in an extended autolink', 'https://x.y/[[a]] www.x.y/[[b]]', []],
    ['after an autolink', 'https://x.y [[a]]', ['a']],
    // https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#footnotes
    ['in a footnote', 'b[^1]\n\n[^1]: [[a]]', ['a'], 'b\na'],
    ['a footnote beside it', '[[a]][^1]\n\n[^1]: b', ['a'], 'a\nb'],
    ['a label that looks like a footnote is a target', '[[^1]]', ['^1']],
  ])
})

describe('as Obsidian documents', () => {
  // https://help.obsidian.md/links
  conforms([
    ['a file', '[[Three laws of motion]]', ['Three laws of motion'], 'Three laws of motion'],
    ['a file with its extension', '[[Figure 1.png]]', ['Figure 1.png']],
    ['a display text', '[[Internal links|custom]]', [{ target: 'Internal links', alias: 'custom' }], 'custom'],
    ['a heading', '[[About#First class]]', [{ target: 'About', heading: 'First class' }], 'About'],
    ['nested headings', '[[Help#Questions#Report bugs]]', [{ target: 'Help', heading: 'Questions#Report bugs' }]],
    ['a block', '[[2023-01-01#^37066d]]', [{ target: '2023-01-01', heading: '^37066d' }], '2023-01-01'],
    ['a block with a display text', '[[Day#^quote|it]]', [{ target: 'Day', heading: '^quote', alias: 'it' }], 'it'],
    ['a path', '[[Folder/Sub folder/Note]]', ['Folder/Sub folder/Note']],
    ['a relative path stays as it is written', '[[../Note]] [[./Note]]', ['../Note', './Note']],
    // "Linking to a heading within the same note"
    ['a heading of the same note is a link to no other', '[[#Preview a linked file]]', [], 'Preview a linked file'],
    ['with a display text', 'See [[#Preview|below]].', [], 'See below.'],
    ['nested, and in a list', '- [[#A#B]] [[c]]', ['c'], 'A#B c'],
    ['a block of the same note', 'See [[#^37066d]][[a]]', ['a'], 'See a'],
    ['a search for headings is none', '[[## team]] [[##]]', [], 'team [[##]]'],
    // "add a blank space followed by a caret (^) and the identifier"
    ['the id of a block is not seen', 'At [[a]] ^quote-of-the-day\n\n> b\n\n^37066f', ['a'], 'At a\nb'],
  ])

  // https://help.obsidian.md/embeds
  conforms([
    ['an embed', '![[Engelbart.jpg]]', [{ target: 'Engelbart.jpg', embed: true }], 'Engelbart.jpg'],
    ['its width', '![[E.jpg|100]]', [{ target: 'E.jpg', alias: '100', embed: true }], 'E.jpg'],
    ['its size', '![[E.jpg|100x145]]', [{ target: 'E.jpg', alias: '100x145', embed: true }], 'E.jpg'],
    ['its page', '![[Doc.pdf#page=3]]', [{ target: 'Doc.pdf', heading: 'page=3', embed: true }], 'Doc.pdf'],
    ['of a block', '![[Links#^b15695]]', [{ target: 'Links', heading: '^b15695', embed: true }]],
    ['of a heading of the same note', '![[#Links]]', [], 'Links'],
  ])

  conforms([
    // https://help.obsidian.md/advanced-syntax: "you need to add a \ before the vertical bar."
    [
      'sizes and aliases in a table',
      'First | Second\n-- | --\n[[Basic\\|Markdown]] | ![[E.jpg\\|200]]',
      [
        { target: 'Basic', alias: 'Markdown' },
        { target: 'E.jpg', alias: '200', embed: true },
      ],
      'First Second\nMarkdown E.jpg',
    ],
    // https://help.obsidian.md/callouts
    ['in a callout', '> [!tip]- See [[a]]\n> and [[b]]', ['a', 'b'], 'See a\nand b'],
    // https://help.obsidian.md/tags
    ['beside a tag', '#tag [[a]]', ['a'], '#tag a'],
  ])

  conforms([
    // https://help.obsidian.md/obsidian-flavored-markdown
    ['but a comment in percent signs is text, as in CommonMark', '%% [[a]] %%', ['a'], '%% a %%'],
    ['but HTML in a line ends no Markdown, as in CommonMark', '<span>[[a]]</span>', ['a'], 'a'],
    // https://help.obsidian.md/links: the format [text](file.md) is a link as well.
    ['a Markdown link', '[Three laws](Three%20laws.md)', [{ target: 'Three laws.md', form: 'markdown' }], 'Three laws'],
    ['but a display text is trimmed', '[[ a | b ]]', [{ target: 'a', alias: 'b' }], 'b'],
  ])
})

describe('as Foam documents', () => {
  // https://github.com/foambubble/foam/blob/main/docs/user/features/wikilinks.md
  conforms([
    ['a note', '[[graph-view]]', ['graph-view'], 'graph-view'],
    ['a section', '[[note-name#Section Title]]', [{ target: 'note-name', heading: 'Section Title' }]],
    ['a path', '[[path/to/note]]', ['path/to/note']],
    // https://github.com/foambubble/foam/blob/main/docs/user/features/block-anchors.md
    ['a block', '[[notes#^key|See it]]', [{ target: 'notes', heading: '^key', alias: 'See it' }], 'See it'],
    ['the anchor of a list', '- [[a]]\n- b\n^shopping-list', ['a'], 'a\nb'],
    ['the anchor of a heading', '## Methodology ^methodology', [], 'Methodology'],
    // https://github.com/foambubble/foam/blob/main/docs/user/features/link-reference-definitions.md
    [
      'the definitions that it generates are no links, and not seen',
      '- [[wikilinks]]\n\n[//begin]: # "Autogenerated"\n[wikilinks]: wikilinks "Wikilinks"\n[//end]: # "Autogenerated"',
      ['wikilinks'],
      'wikilinks',
    ],
    // https://github.com/foambubble/foam/blob/main/docs/user/features/embeds.md
    ['an embed', '![[note-name#Section Title]]', [{ target: 'note-name', heading: 'Section Title', embed: true }]],
    ['a width in percent', '![[image.png|50%]]', [{ target: 'image.png', alias: '50%', embed: true }], 'image.png'],
    [
      'size, alignment and alt text together',
      '![[chart.png|400|Monthly sales]]',
      [{ target: 'chart.png', alias: '400|Monthly sales', embed: true }],
      'chart.png',
    ],
    ['but the modifier of an embed is text', 'full![[my-note]]', [{ target: 'my-note', embed: true }], 'fullmy-note'],
  ])
})

describe('as Dendron documents', () => {
  // https://wiki.dendron.so/notes/3472226a-ff3c-432d-bf5d-10926f39f6c2 (Links), .../90mrtp10ucyyvt60qekuj4y (Wiki Link)
  conforms([
    ['a note of a hierarchy', '[[dendron.topic.links]]', ['dendron.topic.links']],
    ['a header', '[[wiki link#header]]', [{ target: 'wiki link', heading: 'header' }]],
    ['a file', '[[src/index.js]]', ['src/index.js']],
    [
      'but the target comes first, the alias second',
      '[[awesome|some-note]]',
      [{ target: 'awesome', alias: 'some-note' }],
    ],
    ['but a link across vaults stays as it is written', '[[dendron://vault/foo]]', ['dendron://vault/foo']],
    ['for which it is', '[[kb:vault/foo]]', [{ target: 'foo', kb: 'vault' }], 'foo'],
  ])

  // https://wiki.dendron.so/notes/f1af56bb-db27-47ae-8406-61a98de6c78c (Note Reference)
  conforms([
    ['a reference', '![[name.of.note]]', [{ target: 'name.of.note', embed: true }], 'name.of.note'],
    ['to a block', '![[name#^important]]', [{ target: 'name', heading: '^important', embed: true }]],
    ['to a range', '![[name#start:#end]]', [{ target: 'name', heading: 'start:#end', embed: true }], 'name'],
  ])
})
