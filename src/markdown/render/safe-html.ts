import type { Options } from 'rehype-sanitize'

/** Prefix of ids in a page's content, which keeps them distinct from the ids of the console around it. */
export const contentIdPrefix = 'md-'

const tagNames = [
  'a abbr b br cite code del em i img input ins kbd mark q s samp small span strong sub sup u var wbr ruby rt rp',
  'blockquote dd details div dl dt figcaption figure hr li ol p pre h1 h2 h3 h4 h5 h6 section summary ul',
  'caption table tbody td tfoot th thead tr',
].flatMap((names) => names.split(' '))

/**
 * Returns the sanitizer schema for a page's HTML: structure is kept, styling is not, and only classes that Markdown itself produces remain.
 * Ganglion's additions (links of the knowledge base, callouts, highlighted code) are inserted after the sanitizer, from fixed names and
 * text.
 * @param idPrefix prefix of every id
 */
export function safeSchema(idPrefix: string): Options {
  return {
    tagNames,
    attributes: {
      '*': ['id', 'title', 'lang'],
      a: ['href', 'dataLink', 'dataFootnoteBackref', 'dataFootnoteRef', 'ariaDescribedBy', 'ariaLabel'],
      blockquote: ['dataCallout', 'dataFold'],
      code: [['className', /^language-./]],
      details: ['open'],
      h1: [['className', 'unseen']],
      img: ['src', 'alt', 'dataLink'],
      input: [['type', 'checkbox'], ['disabled', true], 'checked'],
      li: [['className', 'task-list-item'], 'value'],
      ol: ['start', 'reversed', ['className', 'contains-task-list']],
      section: ['dataFootnotes', ['className', 'footnotes']],
      td: ['align', 'colSpan', 'rowSpan'],
      th: ['align', 'colSpan', 'rowSpan', 'scope'],
      ul: [['className', 'contains-task-list']],
    },
    required: { input: { type: 'checkbox', disabled: true } },
    ancestors: { tbody: ['table'], td: ['table'], th: ['table'], thead: ['table'], tfoot: ['table'], tr: ['table'] },
    protocols: { href: ['http', 'https', 'mailto'], src: ['http', 'https', 'data'] },
    clobber: ['ariaDescribedBy', 'id'],
    clobberPrefix: idPrefix,
    strip: ['script', 'style', 'template', 'title', 'noscript', 'iframe', 'svg', 'math', 'select', 'textarea'],
  }
}
