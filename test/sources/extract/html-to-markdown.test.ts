import { expect, test } from 'vitest'
import { htmlToMarkdown } from '../../../src/sources/extract/html/html-to-markdown.ts'
import { extractBytes } from './conformance.ts'

test.each<[string, string, string]>([
  ['headings', '<h1>A <a href="#a">#</a></h1><h3>B<br>C</h3><h2></h2>', '# A\n\n### B C'],
  ['lists', '<ul><li>a<ol start="3"><li>b</li></ol></li></ul>', '- a\n\n  3. b'],
  ['code', '<pre><code class="language-js">a &lt; b</code></pre>', '```js\na < b\n```'],
  [
    'links',
    '<p><a href="https://x.org/">a</a> <a href="javascript:x">b</a> <a href="/c">c</a></p>',
    '[a](https://x.org/) b c',
  ],
  ['images', '<p>An <img src="data:x" alt="owl"></p>', 'An owl'],
  ['text that looks like HTML', '<p>a &lt;b&gt;</p>', 'a \\<b>'],
  [
    'what is not text',
    '<script>a</script><nav>b</nav><p hidden>c</p><p style="display: none">d</p><!-- e --><p>f</p>',
    'f',
  ],
  ['forms', '<form><p>a</p><input value="b"><button>c</button></form>', 'a'],
  [
    'tables',
    '<table><tr><th>a<th>b|c</tr><tr><td><p>d</p><p>e</p><td>f</table>',
    '| a | b\\|c |\n| - | - |\n| d e | f |',
  ],
  ['spans', '<table><tr><th colspan=2>a<tr><td>b<td>c</table>', '| a | |\n| - | - |\n| b | c |'],
  ['tables that lay out', '<table><tr><td>x<td><table><tr><th>a<th>b</table></table>', 'x\n\n| a | b |\n| - | - |'],
  [
    'footnotes',
    '<p>a<sup><a href="#footnote-1" id="footnote-ref-1">[1]</a></sup></p><ol><li id="footnote-1"><p>b <a href="#footnote-ref-1">↑</a></p></li></ol>',
    'a[^1]\n\n[^1]: b',
  ],
])('%s', (_, html, markdown) => {
  expect(htmlToMarkdown(html)).toBe(markdown)
})

test('a cell that spans a million others does not make them', () => {
  const html = '<table><tr><td colspan=1000000 rowspan=1000000>a<td>b</tr></table>'.repeat(20)
  expect(htmlToMarkdown(html).length).toBeLessThan(20_000)
})

test('elements nested deep become their text', () => {
  expect(htmlToMarkdown(`${'<div>'.repeat(500)}a<b>b</b>${'</div>'.repeat(500)}`)).toBe('ab')
})

test.for([
  ['<p>It is<b> an old harbour </b>now</p>', 'It is **an old harbour** now'],
  ['<p>A <b><i> quay </i></b>and<i> </i>more</p>', 'A **_quay_** and more'],
  ['<p><i>Ducks (</i>Aythya <i>to</i> Mergus<i>)</i></p>', '_Ducks_ (Aythya _to_ Mergus)'],
  ['<p><b>Note:</b> read <i>(this)</i> first.</p>', '**Note:** read _(this)_ first.'],
  ['<p>un<b>believ</b>able</p>', 'un**believ**able'],
  ['<p>un<i>believ</i>able <i>and <b>(so)</b></i>on</p>', 'unbelievable and **(so**)on'],
  [
    '<table><tr><th>a<th>b<tr><td><b><p>Note </p></b>and<td><i><br>c</i>d</table>',
    '| a | b |\n| - | - |\n| **Note** and | cd |',
  ],
] as const)('emphasis takes no character references: %s', ([html, markdown]) => {
  expect(htmlToMarkdown(html)).toBe(markdown)
})

test.for([
  ['<p>10<sup>6</sup> units, 90<sup>2</sup> m, 10<sup>-3</sup> s, CO<sub>2</sub></p>', '10⁶ units, 90² m, 10⁻³ s, CO₂'],
  ['<h2>The 10<sup>6</sup></h2>', '## The 10⁶'],
  ['<p>2<sup><i>n</i>+1</sup> and x<sup>2q</sup>, y<sub>Q</sub></p>', '2ⁿ⁺¹ and x^(2q), y\\_(Q)'],
  [
    '<p>1<sup>st</sup>, M<sup>me</sup> XIX<sup>e</sup> x<sup>e</sup> a<sup>[3]</sup> b<sup>: 7</sup></p>',
    '1st, Mme XIXe xᵉ a\\[3] b: 7',
  ],
  ['<p>on<sup><a href="#n1">2</a></sup> and <sup>a</sup> b</p>', 'on² and a b'],
  [`<p>a<sup>${'small print '.repeat(9)}</sup></p>`, `a${'small print '.repeat(9).trim()}`],
] as const)('superscripts and subscripts are told from what is on the line: %s', ([html, markdown]) => {
  expect(htmlToMarkdown(html)).toBe(markdown)
})

const prose = 'The clerk keeps the ledger in the archive room and checks it each morning before the doors are opened. '
const menu = '<ul><li><a href="https://x.org/">Menu</a></li><li><a href="https://x.org/s">Menu of sports</a></li></ul>'

const extracted = (html: string) => extractBytes('html', html)

/** Class names by which readers of web pages leave out blocks. */
const classNames = [
  'sidebar',
  'related',
  'comment-box',
  'ltx_theorem_remark',
  'gdpr-Paragraph',
  'extra-info',
  'section-header',
  'footer',
]

test.for(classNames)('no text is lost by the class name %s', async (name) => {
  const sections = [1, 2, 3, 4, 5, 6].map(
    (at) =>
      `<h2>Matter ${at}</h2><p>${prose}</p><div class="${name}" id="${name}-${at}"><p>KEPT${at} of the board.</p></div>`,
  )
  for (const html of [`<main>${sections.join('')}</main>`, `<div class="${name}">${sections.join('')}</div>`]) {
    const { markdown, warnings, doubts } = await extracted(`<html><body>${html}</body></html>`)
    expect(markdown.match(/KEPT\d/g)).toHaveLength(6)
    expect([warnings, doubts]).toEqual([[], undefined])
  }
})

test('text of a page without marked contents stays, and its menus go', async () => {
  const links = Array.from({ length: 9 }, (_, at) => `<a href="/m${at}">Menu ${at}</a>`).join(' | ')
  const { markdown } = await extracted(
    `<body><div>${links}</div><h1>News</h1><p>${prose}</p><div>Fee: 10 euros</div><aside>A note.</aside><footer>Written by Ada.</footer></body>`,
  )
  expect(markdown).not.toContain('Menu')
  for (const kept of ['Fee: 10 euros', 'A note.', 'Written by Ada.']) expect(markdown).toContain(kept)
})

test('a page of nothing but links keeps them', async () => {
  const links = Array.from({ length: 9 }, (_, at) => `<li><a href="https://x.org/${at}">Place ${at}</a></li>`).join('')
  expect((await extracted(`<h1>Bookmarks</h1><ul>${links}</ul>`)).markdown).toContain('[Place 8](https://x.org/8)')
})

test('a curator decides on a page of whose words a tenth is not in its text', async () => {
  const [main, aside] = [`<main><p>${prose.repeat(4)}</p></main>`, `<aside><p>${prose}</p></aside>`]
  const { markdown, doubts } = await extracted(`<body>${main}${aside}</body>`)
  expect(markdown.match(/ledger/g)).toHaveLength(4)
  expect(doubts).toEqual(['Of the 95 words that the file shows, 19 are not in its text.'])
})

test.for([
  ['an aside in the text', `<main><p>${prose.repeat(3)}</p><aside class="aside"><p>KEPT</p></aside></main>`],
  [
    'an article in an aside',
    `<div>${menu}</div><main><aside><h1>News</h1><p>KEPT ${prose.repeat(6)}</p></aside></main>`,
  ],
  [
    'a source of a quotation',
    `<main><p>${prose}</p><blockquote><p>${prose}</p><footer>KEPT</footer></blockquote></main>`,
  ],
  ['a question on a button', `<main><p>${prose}</p><h3><button>KEPT</button></h3><p>${prose}</p></main>`],
  [
    'a closed answer',
    `<main><p>${prose}</p><div><button aria-expanded="false">Who?</button></div><div hidden>KEPT ${prose}</div></main>`,
  ],
  ['a closed tab', `<main><p>${prose}</p><div role="tabpanel" style="display:none">KEPT ${prose}</div></main>`],
] as const)('of a page, %s is text, and its menus are none', async ([, html]) => {
  const around = `<nav>${menu}</nav><aside>${menu}</aside>`
  const { markdown } = await extracted(
    `<html><body>${around}${html}<button>Menu</button><footer>Menu</footer></body></html>`,
  )
  expect(markdown).toContain('KEPT')
  if (!html.includes('<ul>')) expect(markdown).not.toContain('Menu')
})
