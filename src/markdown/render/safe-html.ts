import type { Options } from 'rehype-sanitize'

/** Before the ids of a page's content, so that they cannot be those of the frame around it. */
export const contentIdPrefix = 'md-'

const inline = [
  'a',
  'abbr',
  'b',
  'br',
  'cite',
  'code',
  'del',
  'em',
  'i',
  'img',
  'input',
  'ins',
  'kbd',
  'mark',
  'q',
  's',
]
const more = ['samp', 'small', 'span', 'strong', 'sub', 'sup', 'u', 'var', 'wbr', 'ruby', 'rt', 'rp']
const blocks = ['blockquote', 'dd', 'details', 'div', 'dl', 'dt', 'figcaption', 'figure', 'hr', 'li', 'ol', 'p', 'pre']
const sections = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'section', 'summary', 'ul']
const tables = ['caption', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr']

/**
 * What may stay of a page's HTML: structure, and no looks of the frame. Classes are those that Markdown itself makes. What Ganglion adds
 * (links of the knowledge base, callouts, highlighted code) comes after the sanitiser, and is made of fixed names and of text.
 * @param idPrefix before every id.
 */
export function safeSchema(idPrefix: string): Options {
  return {
    tagNames: [...inline, ...more, ...blocks, ...sections, ...tables],
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
