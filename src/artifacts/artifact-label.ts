import type { Artifact } from '../core/artifact.ts'

/** What a message calls an artifact: its role and its name, where the name says more. */
export function artifactLabel({ role, name }: Pick<Artifact, 'role' | 'name'>): string {
  return role === name ? role : `${role} ${name}`
}
