import manifest from '../../package.json' with { type: 'json' }

export const packageVersion: string = manifest.version
