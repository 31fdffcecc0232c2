import { describe, expect, test } from 'vitest'
import { parseMarkdown } from '../../src/markdown/parse/parse-markdown.ts'
import { plainText } from '../../src/markdown/plain-text.ts'

describe('plainText', () => {
  test.each([
    ['a paragraph, its lines joined', 'one\ntwo\r\nthree', 'one two three'],
    ['a line break', 'one  \ntwo\\\nthree', 'one\ntwo\nthree'],
    ['blocks', '# A\n\nb\n\n---\n\n> c\n>\n> d', 'A\nb\nc\nd'],
    ['emphasis', '*a* **b** ~~c~~ d_e_f', 'a b c d_e_f'],
    ['escapes and character references', '\\*a\\* &amp; &#65;', '*a* & A'],
    ['links and images', '[a *b*](u "t") ![c](u) [d][r] ![e][r]\n\n[r]: /u "t"', 'a b c d e'],
    ['autolinks', '<https://a.b> https://c.d', 'https://a.b https://c.d'],
    ['wiki links', '[[a]] [[b|c]] [[d#e]] [[cites:f]] [[kb:g/h]]', 'a c d f h'],
    ['links within the page', '[[#A]] [[#A|b]] [[#A#B]] ![[#C]] [[#^id]]', 'A b A#B C'],
    ['embeds', '![[img.png|300]] ![[a#b|c]]', 'img.png a'],
    ['code', '`a  b`\n\n```ts\nc\n  d\n```\n\n    e', 'a  b\nc\n  d\ne'],
    ['lists', '- a\n  - b\n- [ ] c\n- [x] d\n\n1. e', 'a\nb\nc\nd\ne'],
    ['a table', '| a | b |\n| - | - |\n| c `d` | e\\|f |', 'a b\nc d e|f'],
    ['a footnote', 'a[^1]\n\n[^1]: b', 'a\nb'],
    ['no element of HTML', 'std::unique_ptr<T> of <remote> and </T>', 'std::unique_ptr<T> of <remote> and </T>'],
    ['HTML in a line', 'H<sub>2</sub>O <!-- no -->a<br>b <kbd title="no">c</kbd>', 'H2O a\nb c'],
    ['HTML blocks', '<table><td>a</td><td>b<b>c</b></td></table>\n\n<!-- no\n\nno -->\n\n<style>no</style>', 'a  bc'],
  ])('shows %s', (_name, content, text) => {
    expect(plainText(parseMarkdown(content)).trim()).toBe(text)
  })
})
