import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { packTar } from 'modern-tar'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { packageNotices } from '../package-notices.ts'

const own = (path: string) => join(import.meta.dirname, path)
const server = (path: string) => own(join('../../src', path))
const readJson = async (file: string) => JSON.parse(await readFile(file, 'utf8'))

/** Program of the package, in the syntax of older Nodes. They lack the CPU time of a thread, which bounds the parsing of a page. */
const program = `#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 20)) await import('./main.js')
else {
  process.stderr.write('error: ganglion-check needs Node 22.20 or later; this is ' + process.version + '.\\n')
  process.exitCode = 2
}
`

/** Packs `ganglion check` and the packages that it imports, as modules that need no others. The bytes change with the version only. */
export async function packChecker(): Promise<Buffer> {
  const { name, ...manifest } = await readJson(own('package.json'))
  const { version, license } = await readJson(own('../../package.json'))
  const chunks = await bundle()
  const files = {
    'package.json': JSON.stringify({ name, version, license, ...manifest }, null, 2),
    LICENSE: await readFile(own('../../LICENSE')),
    'README.md': await readFile(own('README.md')),
    'NOTICES.txt': await packageNotices(chunks.flatMap(({ moduleIds }) => moduleIds)),
    'ganglion-check.js': program,
    ...Object.fromEntries(chunks.map(({ fileName, code }) => [fileName, code])),
  }
  const entries = Object.entries(files).map(([name, content]) => {
    const body = Buffer.from(content)
    const mode = name === 'ganglion-check.js' ? 0o755 : 0o644
    return { header: { name: `package/${name}`, size: body.length, mtime: new Date(0), mode }, body }
  })
  return promisify(gzip)(await packTar(entries))
}

/** Removes a `require` that a file makes for itself to load a package late: the bundler does not see the packages it loads. */
const withPackages: Plugin = {
  name: 'with-packages',
  transform: (code) => code.replace(/^const require = createRequire\(import\.meta\.url\)$/m, ''),
}

async function bundle(): Promise<OutputChunk[]> {
  const build = await rolldown({
    // `main.js` starts the others by their paths.
    input: {
      main: server('main.js'),
      'parse-worker': server('markdown/pool/parse-worker.ts'),
      'spawner-program': server('git/native/spawner-program.ts'),
      worker: join(dirname(createRequire(import.meta.url).resolve('piscina')), 'worker.js'),
    },
    platform: 'node',
    // Native, and not needed: it sets priorities of threads.
    external: ['@napi-rs/nice'],
    plugins: [withPackages],
    // Node 22 knows no `using`.
    transform: { target: 'node22', define: { __dirname: 'import.meta.dirname' } },
    // The engine of gray-matter that evaluates code is never called, see `front-matter.ts`.
    checks: { eval: false },
    resolve: { alias: { './cli/program.ts': own('src/checker.ts') } },
  })
  const { output } = await build.generate({ format: 'es', minify: true })
  await build.close()
  return output.filter((file) => file.type === 'chunk')
}
