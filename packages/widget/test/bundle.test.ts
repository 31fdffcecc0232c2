import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { tempDir } from '../../../test/support/temp.ts'
import { bundleWidget } from '../bundle-widget.ts'

const run = promisify(execFile)
const manifestOf = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

test('the script has at most 20 KB with gzip, and neither imports nor makes HTML', async () => {
  const code = await bundleWidget()
  expect(gzipSync(code).length).toBeLessThanOrEqual(20 * 1024)
  expect(code).toContain('MarkedJS')
  expect(code.match(/\bimport\b|innerHTML|insertAdjacentHTML|outerHTML|document\.write|\beval\(/g)).toBeNull()
})

test('the script is also a plain one, which leaves no names to the page, and may be loaded twice', async () => {
  const defined = new Map<string, unknown>()
  const customElements = {
    get: (name: string) => defined.get(name),
    define: (name: string, made: unknown) => defined.set(name, made),
  }
  const page = { customElements, HTMLElement: class {} }
  const code = await bundleWidget()
  const before = Object.keys(page)
  runInNewContext(code, page)
  runInNewContext(code, page)
  expect([[...defined.keys()], Object.keys(page)]).toEqual([['ganglion-chat', 'trail-chat'], before])
})

test('the package has the version and licence of the server, types, and a proxy that needs no other package', async () => {
  const folder = tempDir()
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'packages/widget', '--outDir', folder])
  await run(process.execPath, ['packages/widget/bundle-widget.ts', folder])
  const manifest = manifestOf(`${folder}/package.json`)
  const { version, license } = manifestOf('package.json')
  expect([manifest.version, manifest.license]).toEqual([version, license])
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder, folder])
  const [{ files }] = JSON.parse(stdout)
  expect(files.map(({ path }: { path: string }) => path).sort()).toEqual(
    ['LICENSE', 'README.md', ...manifest.files, 'package.json'].sort(),
  )
  const proxy = await import(`${folder}/proxy.js`)
  expect(Object.keys(proxy).sort()).toEqual(['fetchProxy', 'nodeProxy'])
  expect(readFileSync(`${folder}/ganglion-chat.d.ts`, 'utf8')).not.toContain("'./")
  expect((await readdir(folder)).filter((name) => name.endsWith('.d.ts'))).toEqual(
    expect.arrayContaining(['proxy.d.ts']),
  )
  expect(await readFile(`${folder}/ganglion-chat.js`, 'utf8')).toBe(await bundleWidget())
})
