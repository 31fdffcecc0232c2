import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { launchChromium } from '../browser/support/chromium.ts'
import { listening } from '../support/listening.ts'
import { tempDir } from '../support/temp.ts'
import { adminKey, startIngesting } from './support.ts'

const Made = z.array(z.object({ method: z.string(), path: z.string(), hasKey: z.boolean() }))
type Made = z.infer<typeof Made>
const Description = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.object({ description: z.string(), tags: z.array(z.string()) }))),
})

const tools = join(import.meta.dirname, 'node_modules')
const products = join(import.meta.dirname, '../../node_modules/.bin')
/** Bundlers by name. Each fails where it warns. */
const bundlers: Record<string, (entry: string) => Promise<unknown>> = {
  esbuild: async (entry) => {
    const args = ['--bundle', '--format=esm', '--log-level=warning', `--outfile=${entry}.es.js`]
    const { stderr } = await promisify(execFile)(join(tools, '.bin/esbuild'), [entry, ...args])
    expect(stderr).toBe('')
  },
  webpack: async (entry) => {
    const config = { mode: 'production', target: 'web', entry, output: { path: project, filename: 'webpack.js' } }
    const code = `require('webpack')(${JSON.stringify(config)}, (error, stats) => {
      if (error || stats.hasErrors() || stats.hasWarnings()) throw error ?? new Error(stats.toString())
    })`
    await promisify(execFile)('node', ['-e', code], { cwd: join(tools, '..') })
  },
  rolldown: async (entry) => {
    const onLog = (_level: string, log: { message: string }) => {
      throw new Error(log.message)
    }
    const build = await rolldown({ input: entry, platform: 'browser', onLog })
    await build.generate({ format: 'es' })
    await build.close()
  },
}
/** A project of somebody else, with the package installed. */
let project: string

async function run(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd: project }).catch(({ stdout, stderr }) => {
    throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`)
  })
  return stdout
}

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'client-'))
  const folder = mkdtempSync(join(tmpdir(), 'client-packed-'))
  await promisify(execFile)('node', ['packages/client/pack.ts', folder])
  const tarball = (await run('npm', 'pack', '--silent', folder)).trim()
  rmSync(folder, { recursive: true })
  writeFileSync(join(project, 'package.json'), '{"type": "module"}')
  await run('npm', 'install', '--silent', '--no-audit', '--no-fund', '--offline', tarball)
  for (const file of ['use-client.ts', 'main.ts', 'tsconfig.json']) {
    copyFileSync(join(import.meta.dirname, 'consumer', file), join(project, file))
  }
  await run(join(tools, '.bin/tsc'))
})

afterAll(() => rmSync(project, { recursive: true }))

test('the types compile under strict TypeScript 5 and 7', async () => {
  expect(await run(join(tools, '.bin/tsc'), '--version')).toMatch(/^Version 5\./)
  expect(await run(join(products, 'tsc'), '--version')).toMatch(/^Version 7\./)
  await run(join(products, 'tsc'), '--noEmit')
  const wrong = `import { Ganglion } from '@ganglion/client'
new Ganglion({ url: '' }).candidates.submit({ kind: 'chat', title: 'x' })`
  writeFileSync(join(project, 'wrong.ts'), wrong)
  for (const tsc of [join(tools, '.bin/tsc'), join(products, 'tsc')]) {
    await expect(run(tsc, '--noEmit')).rejects.toThrow(/wrong\.ts.*content/s)
  }
  writeFileSync(join(project, 'wrong.ts'), '')
})

test('the client is at most 12 KB, minified and compressed, and imports nothing', async () => {
  const sizeOf = async (entry: string) => {
    const build = await rolldown({ input: join(project, 'node_modules/@ganglion/client', entry), platform: 'browser' })
    const { output } = await build.generate({ format: 'es', minify: true })
    await build.close()
    expect(output.flatMap(({ type, ...file }) => ('imports' in file ? file.imports : [type]))).toEqual([])
    return gzipSync(output[0].code).length
  }
  expect(await sizeOf('index.js')).toBeLessThanOrEqual(12 * 1024)
  expect(await sizeOf('webhooks.js')).toBeLessThanOrEqual(6 * 1024)
})

test.each(['esbuild', 'webpack', 'rolldown'])(
  '%s bundles the client for a browser without a warning',
  async (bundler) => {
    const entry = join(project, 'main.js')
    writeFileSync(
      entry,
      "import { Ganglion } from '@ganglion/client'\nglobalThis.made = new Ganglion({ url: 'http://x' })\n",
    )
    await bundlers[bundler]?.(entry)
  },
)

test('CommonJS requires the client, with its types', async () => {
  const folder = join(project, 'cjs')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"type": "commonjs"}')
  writeFileSync(
    join(folder, 'main.ts'),
    `import { Ganglion, NotFoundError } from '@ganglion/client'
import { verify } from '@ganglion/client/webhooks'
const made: Ganglion = new Ganglion({ url: 'http://x' })
process.stdout.write(JSON.stringify([typeof made.kb('y').search, typeof NotFoundError, typeof verify]))`,
  )
  writeFileSync(join(folder, 'globals.d.ts'), 'declare const process: { stdout: { write: (text: string) => void } }\n')
  const flags = '--ignoreConfig --strict --target es2022 --lib es2022,dom,dom.asynciterable --skipLibCheck'.split(' ')
  const files = ['cjs/main.ts', 'cjs/globals.d.ts']
  await run(join(tools, '.bin/tsc'), ...flags.slice(1), '--module', 'node16', '--noEmit', ...files)
  await run(join(products, 'tsc'), ...flags, '--module', 'node20', ...files)
  for (const node of [join(tools, 'node-20/bin/node'), join(tools, 'node-24/bin/node')]) {
    expect(JSON.parse(await run(node, 'cjs/main.js'))).toEqual(['function', 'function', 'function'])
  }
})

/** Operations that no method calls. */
const notCalled = (tags: readonly string[]) => tags.includes('Operations')

/** A server, and what a client needs of it. */
async function startServer() {
  const product = await startIngesting()
  const { url } = product
  const upload = join(tempDir(), 'upload.txt')
  writeFileSync(upload, `A file, ${Math.random()}.`)
  const { paths } = Description.parse(await (await fetch(`${url}/openapi.json`)).json())
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { description, tags }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      // The client speaks for a key, which has no mails.
      isCalled: !notCalled(tags) && `${method} ${path}` !== 'patch /api/v1/me',
      needsKey: method !== 'get' && /\bIdempotent(?: with|: [^c]|: changes)/.test(description),
      matches: (made: Made[number]) =>
        made.method === method.toUpperCase() && new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(made.path),
      literal: path.replaceAll(/\{\w+\}/g, '').length,
    })),
  )
  const nameOf = (made: Made[number]) =>
    operations.filter(({ matches }) => matches(made)).toSorted((a, b) => b.literal - a.literal)[0]?.name ?? made.path
  return { setup: { url, key: await adminKey(product), kb: 'handbook', file: 'README.md', upload }, operations, nameOf }
}

test('every operation has a method, and each write an Idempotency-Key that is safe to repeat', async () => {
  const { setup, operations, nameOf } = await startServer()
  const made = Made.parse(JSON.parse(await run('node', 'main.js', JSON.stringify(setup))))
  const called = new Set(made.map(nameOf))
  const expected = operations.filter(({ isCalled }) => isCalled).map(({ name }) => name)
  expect([...called].sort()).toEqual(expected.sort())
  const withoutKey = made.filter(({ method, hasKey }) => method !== 'GET' && !hasKey).map(nameOf)
  expect([...new Set(withoutKey)].sort()).toEqual([
    'DELETE /api/v1/uploads/{uploadId}',
    'POST /api/v1/chat', // as a stream
    'POST /api/v1/documents/{docId}/ingest',
    'POST /api/v1/knowledge-bases/{kbId}/retrieve',
    'POST /api/v1/queue/candidates/{id}/reopen',
    'POST /api/v1/webhooks/{id}/rotate',
    'POST /api/v1/webhooks/{id}/test',
  ])
})

describe.each([
  ['Node 20', [join(tools, 'node-20/bin/node')]],
  ['Node 24', [join(tools, 'node-24/bin/node')]],
  ['Deno', [join(tools, '.bin/deno'), 'run', '--allow-all', '--no-lock']],
  ['Bun', [join(tools, '.bin/bun')]],
])('%s', (name, [program = '', ...args]) => {
  test('calls every method', async () => {
    const { setup } = await startServer()
    expect(await run(program, '--version')).toContain(name.replace(/^\w+ /, 'v').replace('Bun', '.').toLowerCase())
    expect(
      Made.parse(JSON.parse(await run(program, ...args, 'main.js', JSON.stringify(setup)))).length,
    ).toBeGreaterThan(40)
  })
})

test('the examples of the documentation compile and run', async () => {
  const { setup } = await startServer()
  const read = (file: string) => readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
  const examples = ['packages/client/README.md'].flatMap((file) =>
    Array.from(read(file).matchAll(/^```ts\n([\s\S]*?)^```$/gm), ([, code = '']) => code),
  )
  expect(examples.length).toBeGreaterThan(8)
  const [start = ''] = examples
  const files = examples.map((code, at) => {
    const file = `example-${at}.ts`
    const isWhole = code.includes('new Ganglion(')
    writeFileSync(join(project, file), isWhole ? code : `${start.split('\n\n')[0]}\n\n${code}`)
    return file
  })
  writeFileSync(join(project, 'handbook.txt'), 'The office is open from 9:00 to 17:00.')
  writeFileSync(join(project, 'globals.d.ts'), 'declare const process: { env: Record<string, string> }\n')
  await run(join(tools, '.bin/tsc'))
  const env = { GANGLION_URL: setup.url, GANGLION_KEY: setup.key }
  for (const file of files)
    await run('env', ...Object.entries(env).map((entry) => entry.join('=')), 'node', file.replace('.ts', '.js'))
})

test('Chromium calls every method', async () => {
  const { setup } = await startServer()
  const { upload: _, url, ...inPage } = setup
  const map = { imports: { '@ganglion/client': '/index.js' } }
  const page = `<!doctype html><title>x</title><script type="importmap">${JSON.stringify(map)}</script>`
  // The page's own server gives the key to nobody else; that of the API takes no pages of other sites.
  const origin = await listening(
    createServer((request, response) => {
      const { url: path = '', method, headers } = request
      if (path.startsWith('/api/')) {
        const forwarded = httpRequest(`${url}${path}`, { method, headers: { ...headers, host: new URL(url).host } })
        forwarded.on('response', (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(response)
        })
        forwarded.on('error', () => response.destroy())
        response.on('close', () => forwarded.destroy())
        return void request.pipe(forwarded)
      }
      const isScript = path.endsWith('.js')
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      const folder = path === '/index.js' ? 'node_modules/@ganglion/client' : '.'
      response.end(isScript ? readFileSync(join(project, folder, basename(path))) : page)
    }),
  )
  const browser = await launchChromium()
  try {
    const tab = await browser.newPage()
    await tab.goto(origin)
    const given = JSON.stringify({ ...inPage, url: origin })
    const made = await tab.evaluate(`import('/use-client.js').then(({ useClient }) => useClient(${given}))`)
    expect(Made.parse(made).length).toBeGreaterThan(40)
  } finally {
    await browser.close()
  }
})
