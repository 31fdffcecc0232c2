import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { linkTableKey, type ResolvedLink } from '../../../src/markdown/render/mark-links.ts'
import { renderBlocks } from '../../../src/markdown/render/render-markdown.ts'

const page: ResolvedLink = { to: 'page', href: '/kb/k/neurons/k_00000001', title: 'On-call "rotation"' }
const table = new Map<string, ResolvedLink>(
  Object.entries<ResolvedLink>({
    'On-call': page,
    k_00000001: page,
    Hole: { to: 'gap', why: 'No page has this name', createHref: '/kb/k/new?title=Hole' },
    Closed: { to: 'gap', why: 'No page has this name' },
    'flow.png': { to: 'file', href: '/kb/k/files/flow.png', isImage: true },
    'plan.pdf': { to: 'file', href: '/kb/k/files/plan.pdf', isImage: false },
  }).map(([target, meaning]) => [linkTableKey({ target }), meaning]),
)
table.set(linkTableKey({ target: '../on-call.md', form: 'markdown' }), page)
table.set(linkTableKey({ target: 'img/flow.png', form: 'markdown' }), {
  ...{ to: 'file', href: '/kb/k/files/flow.png', isImage: true },
})

function rendered(content: string, options: { idPrefix?: string | null } = {}) {
  const { blocks } = renderBlocks({ content, links: table, ...options })
  return parseHTML(`<html><body>${blocks.join('\n')}</body></html>`).document
}

function first(content: string, selector: string) {
  const found = rendered(content).querySelector(selector)
  if (found === null) throw new Error(`nothing is ${selector} in ${rendered(content).body.innerHTML}`)
  return found
}

describe('links', () => {
  test.each([
    ['[[On-call]]', 'On-call', ''],
    ['[[On-call|the rotation]]', 'the rotation', ''],
    ['[[supersedes:On-call]]', 'On-call', ''],
    ['[[k_00000001]]', 'On-call "rotation"', ''],
    ['[[k_00000001|the rotation]]', 'the rotation', ''],
    ['[[On-call#Who is *called*?]]', 'On-call', '#md-who-is-called'],
    ['[[On-call#Part#Über uns]]', 'On-call', '#md-uber-uns'],
    ['[[On-call#^quote]]', 'On-call', '#md-%5Equote'],
    ['[the *page*](../on-call.md#who)', 'the page', '#md-who'],
    ['[the page][1]\n\n[1]: ../on-call.md', 'the page', ''],
    ['![[On-call]]', 'On-call', ''],
    ['| a |\n| - |\n| [[On-call\\|b]] |', 'b', ''],
  ])('%s leads to the page', (content, label, fragment) => {
    const link = first(content, 'a')
    expect([link.textContent, link.getAttribute('href')]).toEqual([label, `/kb/k/neurons/k_00000001${fragment}`])
    expect(link.getAttribute('title')).toBe(label === 'On-call "rotation"' ? null : 'On-call "rotation"')
  })

  test('to no page are gaps that say so, and let writers create it', () => {
    const gap = first('See [[Hole|a hole]].', '.gap')
    expect(gap.getAttribute('title')).toBe('No page has this name')
    expect(gap.textContent).toBe('a hole (No page has this name) create')
    const create = first('[[Hole]]', '.gap a')
    expect(create.getAttribute('href')).toBe('/kb/k/new?title=Hole')
    expect(create.getAttribute('aria-label')).toBe('Create “Hole”')
    expect(rendered('[[Closed]]').querySelector('a')).toBeNull()
    expect(first('[[beyond the table]]', '.gap').textContent).toMatch(/20,000/)
  })

  test.each(['`[[On-call]]`', '\\[[On-call]]', '```\n[[On-call]]\n```', '<!-- [[On-call]] -->'])(
    'there are none in %s',
    (content) => expect(rendered(content).querySelector('a, .gap')).toBeNull(),
  )

  test('to other places say that they do, and never open in this one', () => {
    const link = first('https://ok.example/a?b=c', 'a')
    expect([link.getAttribute('href'), link.className, link.getAttribute('rel')]).toEqual([
      ...['https://ok.example/a?b=c', 'outside', 'noopener noreferrer nofollow'],
    ])
    expect(first('<mailto:a@b.cd>', 'a').getAttribute('href')).toBe('mailto:a@b.cd')
  })

  test('in HTML never lead to a path of this server', () => {
    expect(rendered('<a href="/settings/keys">x</a>').querySelector('a')).toBeNull()
  })

  test.each(['[x](javascript:alert(1))', '[x](data:text/html,x)', '[x](ftp://a/b)', '<a href="ftp://a/b">x</a>'])(
    '%s is text',
    (content) => {
      expect(rendered(content).querySelector('a')).toBeNull()
      expect(rendered(content).body.textContent?.trim()).toBe('x')
    },
  )

  test('do not stand in links', () => {
    for (const inner of ['[[On-call]]', '<table><tr><td><a href="https://b.example">On-call</a></table>']) {
      const document = rendered(`[see ${inner} there](https://ok.example)`)
      expect(document.querySelectorAll('a a')).toHaveLength(0)
      expect(document.body.textContent?.replace(/\s+/g, ' ').trim()).toBe('see On-call there')
    }
  })

  test('blocks have the ids that Obsidian gives them, which are not shown', () => {
    const document = rendered(
      'Call the lead. ^who-1\n\n- one ^One\n  - below\n- two\n\nNo^mark, 2 ^ 3, `^code`\n\n^alone\n',
    )
    const shown = [...document.querySelectorAll('[id]')]
    expect(shown.map(({ id, tagName, textContent }) => [id, tagName, textContent.replace(/\s+/g, ' ').trim()])).toEqual(
      [
        ['md-^who-1', 'P', 'Call the lead.'],
        ['md-^one', 'LI', 'one below'],
        ['md-^alone', 'P', ''],
      ],
    )
    expect(document.body.textContent).toContain('No^mark, 2 ^ 3, ^code')
    expect(rendered('See [here](#^who). ^who').querySelector('a')?.getAttribute('href')).toBe('#md-%5Ewho')
    expect(rendered('Alone. ^who', { idPrefix: null }).querySelector('[id]')).toBeNull()
  })

  test('within the page lead to headings, also by what they say', () => {
    const content = '[[#Who is called?]] [b](#who-is-called) [c](#nowhere)\n\n# Who is called?\n\n# Who is called?\n'
    const document = rendered(content)
    const ids = [...document.querySelectorAll('h2')].map(({ id }) => id)
    expect(ids).toEqual(['md-who-is-called', 'md-who-is-called-2'])
    const links = [...document.querySelectorAll('a')].map((link) => link.getAttribute('href'))
    expect(links).toEqual(['#md-who-is-called', '#md-who-is-called'])
  })
})

test('links and images in HTML are those of the knowledge base', () => {
  const document = rendered(
    '<p><a href="../on-call.md#x">who</a> <a href="https://x.y"><img src="img/flow.png" alt="A &amp; B"></a></p>\n\n' +
      'x <img src="nowhere.png"> <a data-link="9">y</a>',
  )
  const [own, outside] = document.querySelectorAll('a')
  expect([own?.getAttribute('href'), own?.textContent]).toEqual(['/kb/k/neurons/k_00000001#md-x', 'who'])
  expect(outside?.innerHTML).toBe('<img src="/kb/k/files/flow.png" alt="A & B" loading="lazy">')
  expect(document.querySelector('.gap')?.textContent).toContain('nowhere.png')
})

test('a heading has the id that it gives itself, and the one of its text', () => {
  const document = rendered('[a](#the_start) [b](#setup)\n\n# Setup {#the_start}\n')
  expect(document.querySelector('h2')?.outerHTML).toBe(
    '<h2 id="md-the-start" dir="auto"><span id="md-setup"></span>Setup</h2>',
  )
  expect([...document.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toEqual([
    '#md-the-start',
    '#md-setup',
  ])
})

describe('images and files', () => {
  test('of the knowledge base are shown where that is safe, and else saved', () => {
    const embed = first('![[flow.png|300]]', 'img')
    expect(embed.outerHTML).toBe('<img src="/kb/k/files/flow.png" alt="flow.png" width="300" loading="lazy">')
    expect(first('![A flow](img/flow.png)', 'img').getAttribute('alt')).toBe('A flow')
    const file = first('![[plan.pdf]]', 'a')
    expect([file.getAttribute('href'), file.hasAttribute('download')]).toEqual(['/kb/k/files/plan.pdf', true])
    expect(first('[[flow.png]]', 'a').hasAttribute('download')).toBe(false)
  })

  test('that stand in the text are shown, but for those that may hold scripts', () => {
    const document = rendered(
      '![A](data:image/png;base64,AAAA) ![B](data:image/svg+xml;base64,AAAA) [c](data:text/html,x)',
    )
    expect([...document.querySelectorAll('img')].map(({ outerHTML }) => outerHTML)).toEqual([
      '<img src="data:image/png;base64,AAAA" alt="A">',
    ])
    expect(document.querySelector('a')).toBeNull()
  })

  test('of other places are never loaded', () => {
    const document = rendered('![A cat](https://evil.example/cat.png) <img src="https://evil.example/x.png" alt="y">')
    expect(document.querySelector('img')).toBeNull()
    expect([...document.querySelectorAll('a')].map(({ textContent }) => textContent)).toEqual([
      'Image: A cat',
      'Image: y',
    ])
  })
})

describe('blocks', () => {
  test('headings begin one level below the page’s own', () => {
    const document = rendered('# A\n\n## B\n\n###### F')
    expect([...document.querySelectorAll('h1, h2, h3, h6')].map(({ localName }) => localName)).toEqual([
      ...['h2', 'h3', 'h6'],
    ])
  })

  test('callouts have a title, and open without a script where they are folded', () => {
    const note = first('> [!note] Mind *this*\n> The body.', 'div.callout.callout-note')
    expect(note.querySelector('.callout-title')?.textContent).toBe('Mind this')
    expect(note.textContent?.trim()).toMatch(/^Mind this\s+The body\.$/)
    expect(first('> [!bug]\n> x', '.callout-note .callout-title').textContent).toBe('Bug')
    expect(first('> [!tip]- More\n> x', 'details:not([open]) > summary').textContent).toBe('More')
    expect(first('> [!tip]+ More\n> x', 'details[open]').textContent).toContain('x')
    expect(rendered('> plain').querySelector('blockquote')?.textContent?.trim()).toBe('plain')
  })

  test('tables scroll by the keyboard, and no header is empty', () => {
    const document = rendered('| | b |\n| - | -: |\n| 1 | 2 |')
    expect(document.querySelector('.table-scroll')?.getAttribute('tabindex')).toBe('0')
    expect([...document.querySelectorAll('th')].map(({ textContent }) => textContent)).toEqual(['b'])
  })

  test('tasks are boxes that say what they are, and do nothing', () => {
    const boxes = [...rendered('- [ ] a\n- [x] b').querySelectorAll('input[disabled]')]
    expect(boxes.map((box) => box.getAttribute('aria-label'))).toEqual(['To do', 'Done'])
  })

  test('footnotes lead there and back', () => {
    const document = rendered('A[^1]\n\n[^1]: Note')
    const there = document.querySelector('sup a')
    expect(document.getElementById(there?.getAttribute('href')?.slice(1) ?? '')?.textContent).toMatch(/Note/)
    const back = document.querySelector('[data-footnote-backref]')
    expect(document.getElementById(back?.getAttribute('href')?.slice(1) ?? '')).toBe(there)
  })

  test('code is coloured where its language is known', () => {
    expect(first('```js\nconst a = 1\n```', 'pre code .token.keyword').textContent).toBe('const')
    expect(first('```nonsense\nconst a\n```', 'pre code').innerHTML).toBe('const a\n')
    expect(first(`\`\`\`js\n${'const a = 1\n'.repeat(3000)}\`\`\``, 'pre code').children).toHaveLength(0)
  })

  test('ids of blocks and math are text that is left out or stays', () => {
    expect(first('Some text ^quote', 'p').textContent).toBe('Some text')
    expect(first('Cost $a_i + b_i$', 'p').textContent).toBe('Cost $a_i + b_i$')
  })

  test('text reads in its own direction', () => {
    const document = rendered('שלום\n\n- a\n\n| a |\n| - |\n| b |')
    for (const selector of ['p', 'li', 'th', 'td'])
      expect(document.querySelector(selector)?.getAttribute('dir')).toBe('auto')
    const arabic = rendered('- ١. قاعدة\n\n> قاعدة\n\n> [!note]\n> قاعدة\n\n| اسم | a |\n| - | - |\n| ب | b |')
    for (const selector of ['ul', 'blockquote', '.callout', 'table'])
      expect(arabic.querySelector(selector)?.getAttribute('dir')).toBe('rtl')
  })

  test('harmless HTML stays, and no text is lost with the rest', () => {
    const document = rendered(
      '<div class="bar" style="x">\n\n<kbd>K</kbd> <u onclick="x">u</u> <center>c</center>\n\n</div>',
    )
    expect(document.body.textContent?.replace(/\s+/g, ' ').trim()).toBe('K u c')
    expect(document.querySelector('kbd')?.textContent).toBe('K')
    expect(document.body.innerHTML).not.toMatch(/class="bar"|style|onclick|center/)
  })
})

test('a long page is rendered in parts as it is in one', () => {
  const section = (n: number) =>
    `## Part ${n}\n\nSome *text* about [[On-call]] and \`code\`.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n`
  const content = Array.from({ length: 400 }, (_, n) => section(n)).join('')
  const { blocks } = renderBlocks({ content, links: table })
  expect(content.length).toBeGreaterThan(32 * 1024)
  expect(blocks).toHaveLength(1200)
})
