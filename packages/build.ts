import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { rolldown } from 'rolldown'
import { browserBundle } from '../src/console/layout/browser-bundle.ts'
import { bundleServer } from './bundle-server.ts'
import { packChecker } from './check/pack-checker.ts'
import { packageNotices } from './package-notices.ts'

// Makes the server and the packages in `dist`: `npm run build`.

const tsc = (project: string) => execFileSync('tsc', ['-p', project], { stdio: 'inherit' })
const run = (...args: string[]) => execFileSync('node', args, { stdio: 'inherit' })

rmSync('dist', { recursive: true, force: true })
// First, because it generates types that the server imports.
run('packages/client/pack.ts', 'dist/client-package')

const chunks = await bundleServer('dist')
writeFileSync('dist/NOTICES.txt', await packageNotices(chunks.flatMap(({ moduleIds }) => moduleIds)))
mkdirSync('dist/kb')
writeFileSync('dist/kb/ganglion-check.tgz', await packChecker())

tsc('src/console/islands')
cpSync('src/console', 'dist/console', { recursive: true, filter: (path) => !/\.(?:ts|json)$/.test(path) })
writeFileSync('dist/console/islands/codemirror.js', await browserBundle('src/console/islands/codemirror.ts'))

tsc('packages/widget')
run('packages/widget/bundle-widget.ts', 'dist/widget')

const suite = await rolldown({ input: 'packages/contract-suite/src/bin.js', platform: 'node', external: /^[^./]/ })
await suite.write({ dir: 'dist/contract-suite' })
await suite.close()
for (const name of ['package.json', 'README.md', 'src/cases']) {
  cpSync(`packages/contract-suite/${name}`, `dist/contract-suite/${basename(name)}`, { recursive: true })
}
copyFileSync('LICENSE', 'dist/contract-suite/LICENSE')
