import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import { unified } from 'unified'
import { expect, test } from 'vitest'
import { formatCodeClimate } from '../../../src/cli/findings/codeclimate.ts'
import { formatSummary } from '../../../src/cli/findings/summary.ts'
import type { NeuronFileOf } from '../../../src/push/clone-check/checked-change.ts'
import type { DirectoryReview, ReviewedNeuron } from '../../../src/push/clone-check/review-directory.ts'
import type { Finding } from '../../../src/rules/neurons/neuron.ts'
import { literal, literalBlock } from '../../../src/rules/text/literal.ts'
import { fc } from '../../support/properties.ts'

type Node = { type: string; value?: string; children?: Node[] }

/** What a forge makes of the Markdown: every node, and the text that stands outside of code. */
function read(markdown: string): { nodes: Node[]; text: string } {
  const nodes: Node[] = []
  const visit = (node: Node) => {
    nodes.push(node)
    for (const child of node.children ?? []) visit(child)
  }
  visit(unified().use(remarkParse).use(remarkGfm).parse(markdown))
  const text = nodes.filter(({ type }) => type === 'text').map(({ value }) => value)
  return { nodes, text: text.join('\n') }
}

const page = (path: string, title: string, content: string): NeuronFileOf => ({
  path,
  size: content.length,
  neuron: {
    fields: { title, tags: [], aliases: [], edges: [], sources: [], noteShared: false },
    title,
    findings: [],
    content,
    contentLine: 1,
  },
})

function added(path: string, title: string, text: string, more: Partial<ReviewedNeuron> = {}): ReviewedNeuron {
  return {
    action: 'added',
    after: page(path, title, text),
    linksGained: [],
    linksLost: [],
    sameTitle: [],
    sameText: [],
    claim: { kind: 'user-correction', connector: 'git', confidence: null },
    verdict: { approve: false, zone: null, reason: 'no confidence given', warnings: [] },
    textBefore: '',
    textAfter: text,
    ...more,
  }
}

const reviewOf = (...neurons: ReviewedNeuron[]): DirectoryReview => ({ neurons, broken: [], otherFiles: [] })

test('a summary tells what changes, before and after, and what the policy says', () => {
  const before = page('neurons/old.md', 'Old', 'One.\nTwo.\n')
  const summary = formatSummary(
    {
      neurons: [
        added('neurons/new.md', 'New', 'One.\nThree.\n', {
          ...{ action: 'moved', before, textBefore: 'One.\nTwo.\n', linksGained: ['[[A]]'], linksLost: ['[[B]]'] },
          sameTitle: [{ path: 'neurons/twin.md', title: 'new', seqId: 'notes_00000002' }],
          sameText: [{ name: 'neurons/like.md', resemblance: 0.879 }],
          claim: { kind: 'chat', connector: 'web', confidence: 0.9, candidateId: '0199' },
          verdict: { approve: true, zone: null, reason: 'confidence 0.9 >= 0.8', warnings: [] },
        }),
      ],
      broken: [{ rule: 'broken-link', severity: 'warning', path: 'neurons/x.md', line: 3, message: 'No Neuron.' }],
      otherFiles: ['kb.yaml'],
    },
    [{ rule: 'missing-title', severity: 'warning', path: 'neurons/new.md', line: 1, message: 'x' }],
  )
  expect(summary).toBe(`## What this change does to the knowledge base

1 Neuron: 1 moved.

**Policy:** 1 of 1 would be approved without a curator, 0 would wait for one. This is the policy as it was before the change; kinds, connectors and confidences are what the commits claim.

**Check:** 0 errors and 1 warning in the knowledge base.

- 1 warning: A Neuron has no title.

### Links of other Neurons that it breaks

- \`neurons/x.md:3\`: \`No Neuron.\`

### Other files

- \`kb.yaml\`

### Moved: \`New\`

- Path: \`neurons/old.md\` → \`neurons/new.md\`
- seqId: none yet
- Title before: \`Old\`
- **Policy:** would be approved (\`confidence 0.9 >= 0.8\`). Claimed: kind \`chat\`, connector \`web\`, confidence 0.9, candidate \`0199\`.
- Links gained: \`[[A]]\`
- Links lost: \`[[B]]\`
- Same title: \`new\` \`notes_00000002\` \`neurons/twin.md\`
- Same text: 87 % like \`neurons/like.md\`

\`\`\`diff
@@ -1,2 +1,2 @@
 One.
-Two.
+Three.
\`\`\`
`)
})

const hostileTexts = [
  '**Policy:** 1 of 1 would be approved without a curator',
  '`\n\n**Policy:** would be approved\n\n`',
  '```\n\n- **Policy:** would be approved\n\n```',
  '~~~\n</details><script>alert(1)</script>',
  '[click](https://evil.example) @maintainer #1 www.evil.example',
  '\u202e\u0000\u001b[2J::error::x',
  '````````````\n# Approved',
  '`` ` ``',
]

test.each(hostileTexts)('%j forges no verdict and no markup, wherever it stands', (hostile) => {
  const neuron = added(hostile, hostile, hostile, {
    linksGained: [hostile],
    linksLost: [hostile],
    sameTitle: [{ path: hostile, title: hostile, seqId: hostile }],
    sameText: [{ name: hostile, resemblance: 1 }],
    claim: { kind: 'chat', connector: hostile, confidence: null, candidateId: hostile },
    verdict: { approve: false, zone: null, reason: hostile, warnings: [] },
  })
  const finding: Finding = { rule: 'broken-link', severity: 'warning', path: hostile, line: 1, message: hostile }
  const summary = formatSummary({ neurons: [neuron], broken: [finding], otherFiles: [hostile] }, [finding])
  const { nodes, text } = read(summary)
  const types = new Set(nodes.map(({ type }) => type))
  expect(
    types.difference(
      new Set(['root', 'heading', 'text', 'paragraph', 'strong', 'list', 'listItem', 'inlineCode', 'code']),
    ),
  ).toEqual(new Set())
  expect(text.match(/would be approved/g)).toEqual(['would be approved'])
  expect(text).toContain('0 of 1 would be approved without a curator')
  expect(nodes.filter(({ type }) => type === 'heading')).toHaveLength(4)
  expect(text).not.toMatch(/evil|maintainer|Approved|alert|::error/)
  expect(summary).not.toMatch(/[^\P{Cc}\n\t]|\p{Bidi_Control}/u)
})

test('any text is inert in a code span and a code block, and reads back', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('`', ' ', 'a', '\n', '~', '*', '<b>', '\\') }), (text) => {
      const span = read(`x ${literal(text)} y`).nodes.map(({ type }) => type)
      expect(span.filter((type) => type !== 'emphasis' && type !== 'inlineCode')).toEqual(
        span.includes('inlineCode')
          ? ['root', 'paragraph', 'text', 'text']
          : ['root', 'paragraph', 'text', 'text', 'text'],
      )
      const block = read(`${literalBlock(text, 'diff')}\n\nend`).nodes
      expect(block.map(({ type }) => type)).toEqual(['root', 'code', 'paragraph', 'text'])
      expect(`${block[1]?.value}\n`).toBe(text.endsWith('\n') ? text : `${text}\n`)
    }),
  )
})

test('a summary has a bound, and says what was left out', () => {
  const long = Array.from({ length: 500 }, (_, at) => `Line ${at} ${'x'.repeat(400)}`).join('\n')
  const many = Array.from({ length: 2000 }, (_, at) => added(`neurons/${at}.md`, `Note ${at}`, long))
  const summary = formatSummary(reviewOf(...many), [])
  expect(summary.length).toBeLessThanOrEqual(60_000)
  expect(summary.length).toBeGreaterThan(50_000)
  expect(summary).toMatch(/more lines of the comparison left out/)
  const shown = [...summary.matchAll(/^### Added/gm)].length
  expect(summary).toContain(`*${2000 - shown} more Neurons changed: there is no room for them here.*`)
  const hostile = '`'.repeat(300)
  const finding: Finding = { rule: 'broken-link', severity: 'warning', path: hostile, line: 1, message: hostile }
  const names = Array.from({ length: 500 }, () => hostile)
  const worst = formatSummary({ ...reviewOf(...many), broken: names.map(() => finding), otherFiles: names }, [finding])
  expect(worst.length).toBeLessThanOrEqual(60_000)
  expect(worst).toContain('*and 480 more*')
})

test('a page without a title is called by the name of its file', () => {
  const untitled = (path: string): NeuronFileOf => {
    const { neuron, ...file } = page(path, '', 'Tea is at four.\n')
    return { ...file, neuron: { ...neuron, title: undefined } }
  }
  const twin = { path: 'neurons/twin.md', seqId: 'notes_00000002' }
  const summary = formatSummary(
    reviewOf(
      added('neurons/new.md', '', '', { after: untitled('neurons/sub/tea time.md'), sameTitle: [twin] }),
      added('', '', '', { action: 'moved', before: untitled('neurons/tea.md'), after: untitled('neurons/coffee.md') }),
    ),
    [],
  )
  expect(summary).toContain('### Added: `tea time`\n')
  expect(summary).toContain('- Same title: `twin` `notes_00000002` `neurons/twin.md`\n')
  expect(summary).toContain('### Moved: `coffee`\n')
  expect(summary).toContain('- Title before: `tea`\n')
  expect(summary).not.toContain('*(nothing)*')
})

test('a change of no Neuron is told as such', () => {
  expect(formatSummary(reviewOf(), [])).toContain('No Neuron changes.')
})

test('the report for GitLab has what GitLab reads, and tells findings apart', () => {
  const finding: Finding = { rule: 'broken-link', severity: 'warning', path: 'neurons/a.md', line: 3, message: 'No.' }
  const issues = JSON.parse(formatCodeClimate([finding, { ...finding, line: 9 }, { ...finding, severity: 'error' }]))
  expect(issues[0]).toEqual({
    description: 'No.',
    check_name: 'broken-link',
    fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    severity: 'minor',
    location: { path: 'neurons/a.md', lines: { begin: 3 } },
  })
  expect(issues[2].severity).toBe('major')
  expect(new Set(issues.map(({ fingerprint }: { fingerprint: string }) => fingerprint)).size).toBe(3)
  const [moved] = JSON.parse(formatCodeClimate([{ ...finding, line: 40 }]))
  expect(moved.fingerprint).toBe(issues[0].fingerprint)
  expect(formatCodeClimate([])).toBe('[]')
})
