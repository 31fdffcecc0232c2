import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type OpenContext, openContext } from '../../src/app/open-context.ts'
import { RetrieveInput, SearchQuery } from '../../src/contract/search.ts'
import { backup } from '../../src/operate/backup/backup.ts'
import { restore } from '../../src/operate/backup/restore.ts'
import type { Caller } from '../../src/rules/access/caller.ts'
import { retrieve } from '../../src/search/kb/retrieve.ts'
import { search } from '../../src/search/kb/search-kb.ts'
import { NativeWriter } from '../kb/support/native-writer.ts'
import { newTestBed } from '../kb/support/test-bed.ts'
import { tempDir } from '../support/temp.ts'

const main = 'refs/heads/main'
const version = '1.2.3'

async function opened(dataDir: string): Promise<OpenContext> {
  const ctx = await openContext({ dataDir })
  onTestFinished(() => ctx.close())
  return ctx
}

/** Pages of few words, of which many have the same text; what came first, and what changed, follows no order of paths or titles. */
async function tiedBed(engine: 'minisearch' | 'segments') {
  const bed = await newTestBed()
  const native = new NativeWriter(bed.gitDir)
  const page = (n: number, text: string) =>
    `---\nseqId: handbook_000000${((n * 37) % 60) + 10}\ntitle: Page ${(n * 37) % 60}\n---\n${text}\n`
  const text = (n: number) => `${words[n % 5]} ${words[5 + (n % 4)]}.\n\n${words[n % 3]} ${words[9 + (n % 2)]}.`
  const path = (n: number) => `neurons/${'abc'[n % 3]}/p${(n * 23) % 60}.md`
  const numbers = Array.from({ length: 60 }, (_, n) => (n * 29) % 60)
  native.commit(main, new Map([['kb.yaml', `${native.read(main, 'kb.yaml')}search:\n  engine: ${engine}\n`]]))
  for (let from = 0; from < 60; from += 20) {
    native.commit(main, new Map(numbers.slice(from, from + 20).map((n) => [path(n), page(n, text(n))])))
    await ranks(bed.ctx, bed.curator)
  }
  native.commit(main, new Map(numbers.filter((n) => n % 4 === 0).map((n) => [path(n), page(n, 'for a while')])))
  await ranks(bed.ctx, bed.curator)
  native.commit(main, new Map(numbers.filter((n) => n % 4 === 0).map((n) => [path(n), page(n, text(n))])))
  return bed
}

const words = 'amber birch cedar dune ember fjord glade heath islet joust knoll'.split(' ')
const tiedQueries = words.flatMap((word, n) => [
  ...[word, `${word} OR ${words[(n + 3) % 11]}`, `${word} ${words[(n + 5) % 11]}`, `${word.slice(0, 3)}*`],
  `page ${word}`,
])

async function ranks(ctx: OpenContext, caller: Caller): Promise<[string, string[], string[]][]> {
  const found: [string, string[], string[]][] = []
  for (const q of tiedQueries) {
    const { documents } = await search(ctx, caller, 'handbook', SearchQuery.parse({ q, limit: '100' }))
    const { chunks } = await retrieve(ctx, caller, 'handbook', RetrieveInput.parse({ query: q, topK: 20 }))
    found.push([q, documents.map(({ path }) => path), chunks.map(({ neuronPath }) => neuronPath)])
  }
  return found
}

test.each(['minisearch', 'segments'] as const)(
  'a deployment that is restored or moved ranks ties as before, by %s',
  async (engine) => {
    const { ctx, curator, dataDir } = await tiedBed(engine)
    const before = await ranks(ctx, curator)
    expect(before.filter(([, pages]) => pages.length > 10).length).toBeGreaterThan(30)
    expect(before.filter(([, , passages]) => passages.length > 5).length).toBeGreaterThan(30)
    const dir = join(tempDir(), 'backup')
    await backup(ctx, dir, { version })
    await ctx.close()
    const [restored, moved, rebuilt] = [
      join(tempDir(), 'restored'),
      join(tempDir(), 'elsewhere/x'),
      join(tempDir(), 'y'),
    ]
    await restore(dir, { dataDir: restored })
    for (const copy of [moved, rebuilt]) cpSync(dataDir, copy, { recursive: true })
    rmSync(join(rebuilt, 'index'), { recursive: true })
    for (const place of [restored, moved, rebuilt]) expect(await ranks(await opened(place), curator)).toEqual(before)
  },
)
