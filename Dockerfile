# One image for every process: the server (all roles), the sandbox operator, and the migration that runs before them.
# Debian and not Alpine, because the Temporal worker needs glibc.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY tools ./tools
COPY src ./src
COPY workflows ./workflows
COPY activities ./activities
RUN node tools/build.mjs && npm prune --omit=dev --no-audit --no-fund

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./package.json
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
USER node
EXPOSE 8080 9464
CMD ["node", "dist/src/processes/server.js"]
