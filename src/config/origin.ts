/** Where a value of the configuration came from, the strongest first. */
export type ConfigOrigin =
  | { readonly kind: 'flag'; readonly name: string }
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly file: string; readonly line: number; readonly column: number }
  | { readonly kind: 'default' }

export function configOriginText(origin: ConfigOrigin): string {
  switch (origin.kind) {
    case 'flag':
      return origin.name
    case 'env':
      return `environment ${origin.name}`
    case 'file':
      return `${origin.file}:${origin.line}`
    case 'default':
      return 'default'
  }
}
