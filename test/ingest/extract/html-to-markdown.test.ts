import { expect, test } from 'vitest'
import { htmlToMarkdown } from '../../../src/ingest/extract/html/html-to-markdown.ts'

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
] as const)('emphasis takes no character references: %s', ([html, markdown]) => {
  expect(htmlToMarkdown(html)).toBe(markdown)
})
