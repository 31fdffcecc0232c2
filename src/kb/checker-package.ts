import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { OutputChunk, Plugin } from 'rolldown'
import { z } from 'zod'
import { packageNotices } from '../system/package-notices.ts'

/** What CI checks a pull request with: the package `@ganglion/check`. Its bytes change with the version only. */
export type CheckerPackage = {
  tgz: Buffer
  /** In hexadecimal digits. */
  sha256: string
}

/** Where a server gives it out. */
export const checkerPath = '/ci/ganglion-check.tgz'

const root = fileURLToPath(new URL('../../', import.meta.url))
const source = (path: string) => join(root, 'src', path)
const Manifest = z.object({ version: z.string(), license: z.string() })

/** What older Nodes can read, too. They lack the CPU time of a thread, which bounds the parsing of a page. */
const program = `#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 20)) await import('./main.js')
else {
  process.stderr.write('error: ganglion-check needs Node 22.20 or later; this is ' + process.version + '.\\n')
  process.exitCode = 2
}
`

let made: Promise<CheckerPackage> | undefined

/** A release has the package beside this file. A checkout makes it when it is first asked for. */
export function checkerPackage(): Promise<CheckerPackage> {
  made ??= readOrPack().catch((error) => {
    made = undefined
    throw error
  })
  return made
}

async function readOrPack(): Promise<CheckerPackage> {
  const isRelease = import.meta.url.endsWith('.js')
  const tgz = await (isRelease ? readFile(new URL('ganglion-check.tgz', import.meta.url)) : packChecker())
  return { tgz, sha256: createHash('sha256').update(tgz).digest('hex') }
}

/** `ganglion check` and the packages that it imports, as modules that need no others. */
async function packChecker(): Promise<Buffer> {
  const { version, license } = Manifest.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  const manifest = {
    ...{ name: '@ganglion/check', version, license, type: 'module', engines: { node: '>=22.20' } },
    description: 'Checks the files of a Ganglion knowledge base: front matter, seqIds, links, names.',
    publishConfig: { access: 'public', provenance: true },
    bin: { 'ganglion-check': 'ganglion-check.js' },
  }
  const chunks = await bundle()
  const files = {
    'package.json': JSON.stringify(manifest, null, 2),
    LICENSE: await readFile(join(root, 'LICENSE')),
    'README.md': await readFile(source('cli/checker.md')),
    'NOTICES.txt': await packageNotices(chunks.flatMap(({ moduleIds }) => moduleIds)),
    'ganglion-check.js': program,
    ...Object.fromEntries(chunks.map(({ fileName, code }) => [fileName, code])),
  }
  const { packTar } = await import('modern-tar')
  const entries = Object.entries(files).map(([name, content]) => {
    const body = Buffer.from(content)
    const mode = name === 'ganglion-check.js' ? 0o755 : 0o644
    return { header: { name: `package/${name}`, size: body.length, mtime: new Date(0), mode }, body }
  })
  return promisify(gzip)(await packTar(entries))
}

/** A `require` that a file makes for itself, so as to load a package late, is none that a bundler sees. */
const withPackages: Plugin = {
  name: 'with-packages',
  transform: (code) => code.replace(/^const require = createRequire\(import\.meta\.url\)$/m, ''),
}

async function bundle(): Promise<OutputChunk[]> {
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    // All but the first are started by their paths beside who starts them.
    input: {
      main: source('main.js'),
      'parse-worker': source('markdown/pool/parse-worker.ts'),
      'spawner-program': source('git/native/spawner/spawner-program.ts'),
      worker: join(dirname(createRequire(import.meta.url).resolve('piscina')), 'worker.js'),
    },
    platform: 'node',
    // Native, and not needed: it sets priorities of threads.
    external: ['@napi-rs/nice'],
    plugins: [withPackages],
    transform: { define: { __dirname: 'import.meta.dirname' } },
    // gray-matter has an engine that is never asked, see `front-matter.ts`.
    checks: { eval: false },
    resolve: { alias: { './cli/program.ts': source('cli/checker.ts') } },
  })
  const { output } = await build.generate({ format: 'es', minify: true })
  await build.close()
  return output.filter((file) => file.type === 'chunk')
}
