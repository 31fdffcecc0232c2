import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runConfined } from '../../../src/sources/extract/confined/confined-process.ts'
import { type ExtractOptions, extractDocument } from '../../../src/sources/extract/extract.ts'
import { runNode } from '../../support/process.ts'
import { extractConfined } from './conformance.ts'
import { writePdf } from './support/pdf-writer.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ganglion-extract-'))
  await writeFile(join(folder, 'a b'), 'A short text.')
})
afterAll(() => rm(folder, { recursive: true }))

function extract(name: string, fileType: string, options?: ExtractOptions) {
  return extractDocument({ file: join(folder, name), filename: name, fileType, transcriber: undefined }, options)
}

test('a document becomes text in another process', async () => {
  expect(await extract('a b', 'txt')).toEqual({
    title: 'A short text.',
    markdown: 'A short text.',
    anchors: [],
    warnings: [],
  })
})

test.each<[string, string, RegExp]>([
  ['doc', 'unsupported', /save it as \.docx/],
  ['exe', 'unsupported', /\.exe cannot be read\.$/],
])('of a .%s it says why it cannot be read', async (fileType, problem, message) => {
  await expect(extract('a b', fileType)).rejects.toMatchObject({ problem, message: expect.stringMatching(message) })
})

test.each<[string, ExtractOptions['limits'], string, RegExp]>([
  ['memory', { memory: 20 * 2 ** 20 }, 'too-large', /more than 20 MB of memory/],
  ['output', { output: 10 }, 'too-large', /text is longer/],
])('what takes too much %s is said in a sentence', async (_, limits, problem, message) => {
  await expect(extract('a b', 'txt', { limits })).rejects.toMatchObject({
    problem,
    message: expect.stringMatching(message),
  })
})

test('what takes too much time is said in a sentence', async () => {
  const run = async () => ({ kind: 'exceeded', limit: 'wallTime' }) as const
  const message = expect.stringMatching(/takes longer than 2 seconds/)
  await expect(extract('a b', 'txt', { run, limits: { wallTime: 2_000 } })).rejects.toMatchObject({
    problem: 'too-slow',
    message,
  })
})

test('a process tells how far it is', async () => {
  await writeFile(join(folder, 'pages'), writePdf([{ texts: [{ text: 'One', x: 60, y: 700 }] }, {}]))
  const told: number[][] = []
  await extract('pages', 'pdf', { onProgress: (...progress) => told.push(progress) })
  expect(told.at(-1)).toEqual([expect.any(Number), 2])
})

test('a PDF that ends the process of its reader is read by another', async () => {
  await writeFile(join(folder, 'aborts'), writePdf([{ texts: [{ text: 'One line', x: 60, y: 700 }] }]))
  const ended = { kind: 'ended', output: Buffer.alloc(0), errors: '', exit: 'SIGABRT' } as const
  const run = vi.fn(runConfined).mockResolvedValueOnce(ended)
  expect(await extract('aborts', 'pdf', { run })).toMatchObject({
    markdown: 'One line',
    warnings: ['The PDF is damaged: its text was read without its layout.'],
  })
  run.mockClear().mockResolvedValueOnce({ ...ended, errors: 'JavaScript heap out of memory' })
  await expect(extract('aborts', 'pdf', { run })).rejects.toMatchObject({ problem: 'too-large' })
})

test('a file that is not there is worth another attempt', async () => {
  await expect(extract('missing', 'txt')).rejects.toMatchObject({ problem: 'crashed' })
})

test('the signal ends it with its reason', async () => {
  const controller = new AbortController()
  const extracting = extract('a b', 'txt', { signal: controller.signal })
  controller.abort(new Error('enough'))
  await expect(extracting).rejects.toThrow('enough')
})

test('a checkout whose packages are a link to those of another reads documents', async () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const checkout = join(folder, 'checkout')
  await cp(join(root, 'src'), join(checkout, 'src'), { recursive: true })
  await cp(join(root, 'package.json'), join(checkout, 'package.json'))
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'))
  const program = `
    import { extractDocument } from './src/sources/extract/extract.ts'
    const input = { file: process.argv[1], filename: 'a.txt', fileType: 'txt', transcriber: undefined }
    console.log((await extractDocument(input)).markdown)`
  const args = ['--input-type=module', '-e', program, join(folder, 'a b')]
  const { stdout, stderr } = await runNode(args, { cwd: checkout })
  expect(stdout, stderr).toBe('A short text.\n')
})

test('twenty at once do not mix', async () => {
  const texts = Array.from({ length: 20 }, (_, index) => `Text ${index}.`)
  const extracted = await Promise.all(texts.map((text) => extractConfined('txt', text)))
  expect(extracted.map(({ markdown }) => markdown)).toEqual(texts)
})
