import { rmSync } from 'node:fs'
import { v7 as uuidv7 } from 'uuid'
import { expect, test } from 'vitest'
import { audienceClone, type CloneAudience } from '../../../src/kb/clone/audience-clone.ts'
import { createKnowledgeBase } from '../../../src/kb/create-kb.ts'
import { nativeGit } from '../../git/support/native-git.ts'
import { addSource } from '../../kb/support/ingest-support.ts'
import { NativeWriter } from '../../kb/support/native-writer.ts'
import { fc, runs } from '../../support/properties.ts'
import { type Product, startProduct } from '../support.ts'

const main = 'refs/heads/main'
/** Everything that readers must not get is a word that begins so. */
const secret = /zq\w*/g
/** Words of a clone besides its pages: names of front matter, of files, and of commits. */
const grammar = new Set(
  `seqId id title tags edges type target candidate sources filename sha256 page verified by at until edition owner
  neurons md svg Add Change Remove pages and files Main Commit Ganglion noreply ganglion localhost invalid true false`.split(
    /\s+/,
  ),
)

const aPage = fc.record({
  number: fc.constantFrom(1, 2, 3),
  audience: fc.constantFrom('', '', 'public', 'tool', 'student', 'curator'),
  isInternal: fc.constantFrom(false, false, false, true),
  sources: fc.subarray(['open', 'internal', 'unknown', 'by hand'] as const),
  edition: fc.constantFrom('', 'open', 'internal', 'unknown'),
  hidden: fc.subarray(['comment', 'key', 'map', 'metadata', 'note', 'alias', 'connector', 'text', 'drawing'] as const),
  shown: fc.subarray(['status', 'owner', 'candidate', 'edge', 'hidden edge', 'picture', 'title'] as const),
  shape: fc.constantFrom('plain', 'plain', 'crlf', 'flow', 'broken'),
})
const aStep = fc.oneof(
  { weight: 6, arbitrary: aPage },
  {
    weight: 2,
    arbitrary: fc.constantFrom('remove 1', 'publish', 'unpublish', 'hide a Source', 'show it again', 'forget a Source'),
  },
  { weight: 1, arbitrary: fc.constant('look' as const) },
)
type Page = typeof aPage extends fc.Arbitrary<infer Value> ? Value : never
type SourceIds = Record<'open' | 'internal' | 'unknown', string>

function pageText(page: Page, at: number, prefix: string, ids: SourceIds): string {
  const { number, audience, isInternal, sources, edition, hidden, shown, shape } = page
  const has = (...names: string[]) => names.some((name) => [...hidden, ...shown].some((each) => each === name))
  const named = { open: `plain${at}`, internal: `zqfile${at}`, unknown: `zqgone${at}`, 'by hand': `hand${at}` }
  const reference = (name: (typeof sources)[number]) =>
    `  - { ${name === 'by hand' ? '' : `id: ${ids[name]}, `}filename: ${named[name]}.pdf, sha256: ${named[name]}sha, page: "${at}" }`
  const lines = [
    `seqId: ${prefix}_0000000${number}`,
    ...(has('title') ? [`title: Title${at} words`] : []),
    ...(audience === '' ? [] : [`audience: [${audience}]`]),
    isInternal ? 'tags: [internal]' : `tags: [tag${at}]`,
    ...(has('comment') ? [`# zqcomment${at}`] : []),
    ...(has('key') ? [`x-private: zqkey${at} # zqbehind${at}`] : []),
    ...(has('map') ? ['review:', `  by: zqmap${at}`, `  list: [zqlist${at}]`] : []),
    ...(has('metadata') ? [`metadata: '{"model":"zqmodel${at}","connector":"zqc${at}"}'`] : []),
    ...(has('connector') ? [`connector: zqconnector${at}`, `sourceUrl: https://zqurl${at}.example`] : []),
    ...(has('note') ? [`note: zqnote${at}`, 'noteShared: false'] : []),
    ...(has('alias') ? [`aliases: [zqalias${at}]`] : []),
    ...(has('status') ? [`status: Status${at}`] : []),
    ...(has('owner') ? [`owner: owner${at}@example.com`] : []),
    ...(has('candidate') ? [`candidate: ${uuidv7()}`] : []),
    ...(has('edge', 'hidden edge') ? ['edges:'] : []),
    ...(has('edge') ? [`  - { type: cites, target: Nowhere${at} }`] : []),
    ...(has('hidden edge') ? [`  - { type: is-a, target: ${prefix}_00000009 }`] : []),
    ...(sources.length > 0 ? ['sources:', ...sources.map(reference)] : []),
    ...(edition === '' ? [] : ['verified:', `  by: Ann${at}`, '  at: 2026-01-02', `  edition: ${ids[edition]}`]),
    ...(shape === 'flow' ? [`flow: { a: [zqflow${at}] }`] : []),
    ...(shape === 'broken' ? [`odd: "zqodd${at}`] : []),
  ]
  const body = [
    `Words${at} of the page.${has('text') ? ` %%zqtext${at}%%` : ''}`,
    ...(has('picture') ? [`![](pic${number}.svg)`] : []),
    ...(has('drawing') ? ['```compressed-json', `zqdrawing${at}`, '```'] : []),
  ]
  const text = ['---', ...lines, '---', '', ...body, ''].join('\n')
  return shape === 'crlf' ? text.replaceAll('\n', '\r\n') : text
}

const wordsOf = (text: string) => new Set(text.match(/[\p{L}\p{N}_]+/gu))

/** Everything that a key gets of the first pages, as they are and as they were at some commits, and of the files that they name. */
async function answersTo(
  { request, url: base }: Product,
  as: string,
  kb: string,
  prefix: string,
  commits: string[],
): Promise<string> {
  const texts = [(await request('GET', `/api/v1/knowledge-bases/${kb}/neurons?limit=100`, { as })).text]
  for (const number of [1, 2, 3]) {
    for (const at of ['', ...commits.map((commit) => `?at=${commit}`)]) {
      const { status, text, body } = await request('GET', `/api/v1/neurons/${kb}/${prefix}_0000000${number}${at}`, {
        as,
      })
      if (status !== 200) continue
      texts.push(text)
      for (const { url } of (body.files ?? []) as { url: string }[]) {
        const file = await fetch(base + url, { headers: { authorization: `Bearer ${as}` } })
        texts.push(await file.text())
      }
    }
  }
  return texts.join('\n')
}

/** Every name, text and message of every commit of a repository. */
function allOf(dir: string): { commits: string[]; text: string } {
  if (nativeGit(dir, ['for-each-ref', main]) === '') return { commits: [], text: '' }
  const [objects, messages, paths] = [
    nativeGit(dir, ['cat-file', '--batch-all-objects', '--batch-check=%(objecttype) %(objectname)', '--unordered']),
    nativeGit(dir, ['log', '--format=%an%n%ae%n%cn%n%ce%n%B', main]),
    nativeGit(dir, ['log', '-m', '--name-only', '--format=', main]),
  ]
  const blobs = [...objects.matchAll(/^blob (\w+)$/gm)].map(([, id = '']) => nativeGit(dir, ['cat-file', 'blob', id]))
  const commits = [...messages.matchAll(/^Main-Commit: (\w+)$/gm)].map(([, id = '']) => id)
  return { commits, text: [messages.replaceAll(/^(Main-Commit): \w+$/gm, '$1'), paths, ...blobs].join('\n') }
}

test('each word of a clone, its history and its messages is in an answer that its reader can get', {
  timeout: 600_000,
}, async () => {
  const product = await startProduct()
  const { ctx, tokens } = product
  let count = 0
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 1, maxLength: 9 }), async (steps) => {
      const slug = `kb-${++count}`
      const { id: kbId, gitDir, prefix } = await createKnowledgeBase(ctx, { tenant: 'acme', slug })
      const { id: tenantId } = await ctx.tenants.ensure('acme', new Date())
      const native = new NativeWriter(gitDir)
      const settings = native.read(main, 'kb.yaml')
      let clock = Date.now()
      const read = async (id: string, tags: string) => {
        clock += 1000
        const extractedAt = new Date(clock).toISOString()
        await ctx.sources.change(id, ['ready'], { extractedAt, tags })
      }
      const [open, internal] = [await addSource(ctx, { kbId }), await addSource(ctx, { kbId, tags: 'internal' })]
      await read(open.id, '')
      await read(internal.id, 'internal')
      const ids = { open: open.id, internal: internal.id, unknown: uuidv7() }
      const pictures = [1, 2, 3].map((number) => [`neurons/pic${number}.svg`, `<svg>picture${number}</svg>`] as const)
      native.commit(main, new Map(pictures))
      const cloneAs = async (audience: CloneAudience) => audienceClone(ctx, await ctx.kb(tenantId, slug), audience)
      for (const [at, step] of steps.entries()) {
        if (typeof step === 'object') {
          native.commit(main, new Map([[`neurons/page${step.number}.md`, pageText(step, at, prefix, ids)]]))
        } else if (step === 'publish') {
          native.commit(main, new Map([['kb.yaml', `${settings}\npublish:\n  keys: [status]\n`]]))
        } else if (step === 'unpublish') native.commit(main, new Map([['kb.yaml', settings]]))
        else if (step === 'hide a Source') await read(open.id, 'internal')
        else if (step === 'show it again') await read(open.id, '')
        else if (step === 'forget a Source') await ctx.sources.remove(open)
        else if (step === 'look') for (const audience of ['tool', 'public', 'student'] as const) await cloneAs(audience)
        else if (native.paths(main).includes('neurons/page1.md'))
          native.commit(main, new Map([['neurons/page1.md', null]]))
      }
      for (const audience of ['tool', 'public', 'student'] as const) {
        const dir = await cloneAs(audience)
        const { commits, text } = allOf(dir)
        expect([...text.matchAll(secret)]).toEqual([])
        expect(text).not.toContain(ids.internal)
        const heads = nativeGit(dir, ['for-each-ref'])
        // A student's pages are read as a curator: readers get them by retrieve alone.
        const as = audience === 'student' ? tokens.curator : tokens.reader
        const answers = await answersTo(product, as, slug, prefix, commits)
        if (audience !== 'student') expect([...answers.matchAll(secret)]).toEqual([])
        const known = wordsOf(answers.replaceAll(/\\n/g, '\n'))
        const lacking = [...wordsOf(text)].filter(
          (word) => !known.has(word) && !grammar.has(word) && !/^\d$/.test(word),
        )
        expect(lacking).toEqual([])
        rmSync(dir, { recursive: true })
        expect(nativeGit(await cloneAs(audience), ['for-each-ref'])).toBe(heads)
      }
    }),
    { numRuns: runs(60, 12) },
  )
})
