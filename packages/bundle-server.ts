import { dirname, join, posix, relative } from 'node:path'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'

const source = join(import.meta.dirname, '../src')

/** Packages that are installed beside the bundle: they bring files, threads or native code along, or are large and loaded at the first use. */
const installed = [
  '@jsquash/webp @llamaindex/liteparse @opentelemetry/\\w+ @zxcvbn-ts/language-common chardetng-wasm gray-matter isomorphic-git',
  'mammoth music-metadata oidc-provider openai opencc-js openid-client pg piscina snowball-stemmers stopword unpdf',
]
/** Imports that the bundle leaves to Node. The last are of a checkout only. */
const external = [
  new RegExp(`^(?:${installed.join(' ').replaceAll(' ', '|')})(?:/|$)`),
  ...['#check', '#widget', './browser-bundle.ts'],
]

/** Matches the URL of a module that runs in a thread or process of its own. */
const program = /new URL\(`\.\/([\w/-]+)\$\{import\.meta\.url\.slice\(-3\)\}`, import\.meta\.url\)/g
/** Matches what {@link placed} writes for `import.meta.url`. */
const place = /import\.meta\.place_([0-9a-f]+)/g

/**
 * Bundles each program that a module starts, and keeps the URL of each module: what is found by its own URL, such as a program or the files
 * of the console, is in the same place of `dist` as in `src`.
 */
const placed: Plugin = {
  name: 'placed',
  transform(code, id) {
    if (id.includes('swagger-ui')) return code.replaceAll('__dirname', swaggerFolder(id))
    if (!id.startsWith(source)) return undefined
    const path = relative(source, id).replaceAll('\\', '/').replace(/\.ts$/, '.js')
    for (const [, name = ''] of code.matchAll(program)) {
      this.emitFile({
        type: 'chunk',
        id: join(dirname(id), `${name}.ts`),
        fileName: posix.join(posix.dirname(path), `${name}.js`),
      })
    }
    return (
      code
        // The bundler follows only a `require` of its own.
        .replace(/^const require = createRequire\(import\.meta\.url\)$/m, '')
        .replaceAll('import.meta.url', `import.meta.place_${Buffer.from(path).toString('hex')}`)
    )
  },
  renderChunk: (code, { fileName }) =>
    code.replace(place, (_, path) => {
      const to = posix.relative(posix.dirname(fileName), Buffer.from(path, 'hex').toString())
      return `new URL('${to}', import.meta.url).href`
    }),
}

/** Returns an expression for the folder of a module of Swagger UI, which serves files of its package. */
function swaggerFolder(id: string): string {
  const folder = id.replaceAll('\\', '/').includes('/lib/') ? '/lib' : ''
  return `(require('node:path').dirname(require.resolve('@fastify/swagger-ui')) + '${folder}')`
}

/** Writes the server and its programs into a folder. It stays readable, since its lines are in the stacks of logged errors. */
export async function bundleServer(folder: string): Promise<OutputChunk[]> {
  const build = await rolldown({
    input: { main: join(source, 'main.js') },
    platform: 'node',
    external,
    plugins: [placed],
    transform: { define: { __dirname: 'import.meta.dirname' } },
    // The engine of gray-matter that evaluates code is never called, see `front-matter.ts`.
    checks: { eval: false },
  })
  const { output } = await build.write({
    dir: folder,
    comments: false,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
  await build.close()
  return output.filter((file) => file.type === 'chunk')
}
